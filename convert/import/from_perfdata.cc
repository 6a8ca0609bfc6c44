// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_perfdata.h"

#include <fmt/format.h>
#include <tsl/robin_map.h>
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "convert/model/profile_builder.h"
#include "convert/model/saturating.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"

namespace perftape {
namespace {

using perfdata::CpuMode;
using perfdata::FeatureBit;

// What makes two callchains the same stack: the words, the mode they start in, and what was mapped.
struct ChainKey {
  std::uint64_t low = 0, high = 0;
  bool operator==(const ChainKey&) const = default;
};
struct ChainKeyHash {
  std::size_t operator()(const ChainKey& key) const { return key.low; }
};

// A mapped range of a dso, wherever it is mapped from.
struct RangeKey {
  const perfdata::Dso* dso = nullptr;
  std::uint64_t start = 0, end = 0, page_offset = 0;
  bool operator==(const RangeKey&) const = default;
};
struct RangeKeyHash {
  std::size_t operator()(const RangeKey& key) const { return XXH3_64bits(&key, sizeof key); }
};

// The names under which build ids are told: from MMAP2 they come with the mapping, here are the
// others.
using BuildIdsByPath = std::unordered_map<std::string, std::string>;

BuildIdsByPath CollectBuildIds(const perfdata::Reader& reader) {
  BuildIdsByPath ids;
  const auto value = reader.DecodedFeature(FeatureBit::kBuildId);
  if (const auto* table = value ? std::get_if<perfdata::BuildIds>(&*value) : nullptr) {
    for (const auto& entry : table->entries) {
      ids.try_emplace(entry.filename, entry.build_id.hex());
    }
    return ids;
  }
  // A pipe, and a recording that was killed, have them in the stream, as binaries were first hit.
  perfdata::RecordCursor cursor = reader.records();
  while (true) {
    const auto record = cursor.Next();
    if (!record || !*record) return ids;
    if ((*record)->type != perfdata::RecordType::kHeaderBuildId) continue;
    if (const auto entry = perfdata::Decode<perfdata::HeaderBuildId>(**record, {})) {
      ids.try_emplace(std::string(entry->filename), entry->build_id.hex());
    }
  }
}

class Importer {
 public:
  Importer(const perfdata::Reader& reader, ImportReport& report)
      : reader_(reader),
        report_(report),
        build_ids_(CollectBuildIds(reader)),
        deliveries_(reader.events()) {}

  Profile Run() &&;

 private:
  // What is worth keeping of a callchain that was resolved once.
  struct KnownStack {
    StackId id = {};
    std::size_t frames = 0, unmapped_frames = 0;
  };

  void Take(const perfdata::RecordView& record, const perfdata::Event* event);
  void TakeSample(const perfdata::RecordView& record, const perfdata::Event& event);
  void Skip(const perfdata::RecordView& sample);
  StackId StackOf(const perfdata::Sample& sample, const perfdata::SampleFormat& format,
                  CpuMode mode);
  KnownStack BuildStack(const perfdata::Sample& sample, const perfdata::SampleFormat& format,
                        CpuMode mode);
  void AddFrame(std::uint32_t pid, const perfdata::ChainFrame& frame);
  LocationId LocationOf(const perfdata::Region& region, CpuMode mode, std::uint64_t address);
  MappingId MappingOf(const perfdata::Region& region, CpuMode mode);
  EventId EventIdOf(const perfdata::Event& event);
  Metadata DescribeRecording() const;

  const perfdata::Reader& reader_;
  ImportReport& report_;
  BuildIdsByPath build_ids_;
  perfdata::Processes processes_;
  perfdata::Deliveries deliveries_;
  perfdata::CallchainReader callchains_;
  ProfileBuilder builder_;
  std::vector<std::optional<EventId>> event_ids_;
  tsl::robin_map<ChainKey, KnownStack, ChainKeyHash> stacks_;
  tsl::robin_map<RangeKey, MappingId, RangeKeyHash> mappings_;
  std::vector<LocationId> leaf_to_root_;  // of the stack that BuildStack is at, and how many
  std::size_t unmapped_frames_ = 0;       // of its frames are in no mapping
  std::uint64_t first_time_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_time_ = 0;
};

Profile Importer::Run() && {
  event_ids_.resize(reader_.events().size());
  for (const std::string& problem : reader_.problems()) report_.problems.push_back(problem);
  perfdata::InTimeOrder cursor(reader_.records(), reader_.events());
  while (true) {
    Result<std::optional<perfdata::RecordView>> record = cursor.Next();
    if (!record) {
      ++report_.damaged_records;
      report_.problems.push_back(std::move(record).error().message);
      break;
    }
    if (!*record) break;
    Take(**record, cursor.event());
  }
  if (cursor.out_of_order() > 0) {
    report_.problems.push_back(
        fmt::format("{} records came later than their round promised", cursor.out_of_order()));
  }
  builder_.SetMetadata(DescribeRecording());
  return std::move(builder_).Finish();
}

void Importer::Take(const perfdata::RecordView& record, const perfdata::Event* event) {
  if (event == nullptr && record.type == perfdata::RecordType::kSample) {
    Skip(record);
    ++report_.unknown_events;
    return;
  }
  // All events lay their trailers out alike, so what a process did is known whoever heard of it.
  if (event == nullptr) event = &reader_.events()[0];
  switch (record.type) {
    case perfdata::RecordType::kSample:
      TakeSample(record, *event);
      return;
    case perfdata::RecordType::kLost:
      if (const auto lost = perfdata::Decode<perfdata::Lost>(record, event->format)) {
        report_.lost_records += lost->count;
      }
      return;
    case perfdata::RecordType::kLostSamples:
      // With this bit they are no loss: a filter of perf's own let them go.
      if ((record.misc & perfdata::kMiscLostSamplesBpf) != 0) return;
      if (const auto lost = perfdata::Decode<perfdata::LostSamples>(record, event->format)) {
        report_.lost_samples += lost->count;
      }
      return;
    default:
      if (!perfdata::IsKnown(record.type)) ++report_.unknown_records;
      processes_.Apply(record, event->format);
      return;
  }
}

void Importer::TakeSample(const perfdata::RecordView& record, const perfdata::Event& event) {
  const Result<perfdata::Sample> sample = perfdata::DecodeSample(record, event.format);
  if (!sample) {
    Skip(record);
    ++report_.damaged_records;
    return;
  }
  if (sample->time != 0) {
    first_time_ = std::min(first_time_, sample->time);
    last_time_ = std::max(last_time_, sample->time);
  }
  const std::span<const perfdata::Delivery> deliveries = deliveries_.Of(*sample, event);
  if (deliveries.empty()) return;
  const StackId stack = StackOf(*sample, event.format, record.cpumode());
  const ThreadId thread =
      builder_.Add(Thread{.pid = sample->pid,
                          .tid = sample->tid,
                          .comm = builder_.Add(processes_.CommOf(sample->tid))});
  for (const perfdata::Delivery& delivery : deliveries) {
    ++report_.samples;
    builder_.Add(Sample{.stack = stack,
                        .thread = thread,
                        .event = EventIdOf(*delivery.event),
                        .count = 1,
                        .period = ToSigned(delivery.period)});
  }
}

void Importer::Skip(const perfdata::RecordView& sample) {
  if (report_.skipped_samples++ == 0) report_.first_skipped = perfdata::PlaceOf(sample);
}

StackId Importer::StackOf(const perfdata::Sample& sample, const perfdata::SampleFormat& format,
                          CpuMode mode) {
  const std::uint64_t start[] = {processes_.UserSpace(sample.pid).generation(),
                                 processes_.kernel().generation(), std::uint64_t(mode), sample.ip};
  const Bytes chain = sample.callchain.bytes();
  std::uint64_t seed = XXH3_64bits(start, sizeof start);
  if (perfdata::HasBranchCallStack(format)) {
    const Bytes branches = sample.branches.bytes();
    seed = XXH3_64bits_withSeed(branches.data(), branches.size(), seed);
  }
  const XXH128_hash_t hash = XXH3_128bits_withSeed(chain.data(), chain.size(), seed);
  const ChainKey key{hash.low64, hash.high64 ^ seed};
  const auto [found, is_new] = stacks_.try_emplace(key);
  if (is_new) found.value() = BuildStack(sample, format, mode);
  report_.frames += found->second.frames;
  report_.unmapped_frames += found->second.unmapped_frames;
  return found->second.id;
}

Importer::KnownStack Importer::BuildStack(const perfdata::Sample& sample,
                                          const perfdata::SampleFormat& format, CpuMode mode) {
  leaf_to_root_.clear();
  unmapped_frames_ = 0;
  for (const perfdata::ChainFrame& frame : callchains_.FramesOf(sample, format, mode)) {
    AddFrame(sample.pid, frame);
  }
  if (leaf_to_root_.empty()) AddFrame(sample.pid, {.address = sample.ip, .mode = mode});

  KnownStack stack{.frames = leaf_to_root_.size(), .unmapped_frames = unmapped_frames_};
  for (auto frame = leaf_to_root_.rbegin(); frame != leaf_to_root_.rend(); ++frame) {
    stack.id = builder_.Push(stack.id, *frame);
  }
  return stack;
}

void Importer::AddFrame(std::uint32_t pid, const perfdata::ChainFrame& frame) {
  const bool is_return = frame.found_by == perfdata::FoundBy::kReturnAddress && frame.address > 0;
  const std::uint64_t lookup = is_return ? frame.address - 1 : frame.address;
  const perfdata::Region* region = processes_.Find(pid, frame.mode, lookup);
  if (region == nullptr) {
    ++unmapped_frames_;
    leaf_to_root_.push_back(builder_.Add(Location{.mapping = {}, .offset = {lookup}, .lines = {}}));
    return;
  }
  leaf_to_root_.push_back(LocationOf(*region, frame.mode, lookup));
}

LocationId Importer::LocationOf(const perfdata::Region& region, CpuMode mode,
                                std::uint64_t address) {
  const MappingId mapping = MappingOf(region, mode);
  const FileOffset offset{address - region.start + region.page_offset};
  if (region.dso->symbol.empty()) {
    return builder_.Add(Location{.mapping = mapping, .offset = offset, .lines = {}});
  }
  const FunctionId function = builder_.Add(
      Function{.name = builder_.Add(region.dso->symbol), .system_name = {}, .filename = {}});
  const Line line{.function = function};
  return builder_.Add(Location{.mapping = mapping, .offset = offset, .lines = {&line, 1}});
}

MappingId Importer::MappingOf(const perfdata::Region& region, CpuMode mode) {
  const auto [known, is_new] =
      mappings_.try_emplace(RangeKey{region.dso, region.start, region.end, region.page_offset});
  if (!is_new) return known->second;
  std::string build_id = region.dso->build_id.hex();
  if (build_id.empty()) {
    if (const auto told = build_ids_.find(region.dso->path); told != build_ids_.end()) {
      build_id = told->second;
    }
  }
  known.value() = builder_.Add(
      Mapping{.filename = builder_.Add(region.dso->path),
              .build_id = builder_.Add(build_id),
              .start = region.start,
              .limit = region.end,
              .file_offset = region.page_offset,
              .kind = mode == CpuMode::kKernel ? MappingKind::kKernel : MappingKind::kUser});
  return known->second;
}

EventId Importer::EventIdOf(const perfdata::Event& event) {
  std::optional<EventId>& known = event_ids_[reader_.events().IndexOf(event)];
  if (known) return *known;
  const perfdata::EventAttr& attr = event.attr;
  const bool is_clock =
      attr.type == perfdata::kTypeSoftware &&
      (attr.config == perfdata::kSoftwareCpuClock || attr.config == perfdata::kSoftwareTaskClock);
  std::uint64_t period = attr.Has(perfdata::kFreq) ? 0 : attr.sample_period;
  // The kernel turns a clock's frequency into a fixed period (perf_swevent_init_hrtimer).
  if (is_clock && attr.Has(perfdata::kFreq) && attr.sample_period > 0) {
    period = 1'000'000'000 / attr.sample_period;
  }
  known = builder_.Add(Event{.name = builder_.Add(event.name),
                             .unit = builder_.Add(is_clock ? "nanoseconds" : "count"),
                             .period = period});
  return *known;
}

Metadata Importer::DescribeRecording() const {
  Metadata metadata;
  const auto comment = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) metadata.comments.push_back(fmt::format("{}: {}", key, value));
  };
  comment("hostname", reader_.text(FeatureBit::kHostname));
  comment("os release", reader_.text(FeatureBit::kOsRelease));
  comment("arch", reader_.text(FeatureBit::kArch));
  comment("perf version", reader_.text(FeatureBit::kVersion));
  if (const auto value = reader_.DecodedFeature(FeatureBit::kCmdline)) {
    comment("command line",
            fmt::format("{}", fmt::join(std::get<perfdata::Cmdline>(*value).arguments, " ")));
  }
  if (first_time_ > last_time_) return metadata;
  metadata.duration_ns = ToSigned(last_time_ - first_time_);
  if (const auto value = reader_.DecodedFeature(FeatureBit::kClockData)) {
    const auto& clock = std::get<perfdata::ClockData>(*value);
    metadata.start_time_ns =
        static_cast<std::int64_t>(clock.wall_ns + (first_time_ - clock.clockid_ns));
  }
  return metadata;
}

}  // namespace

Result<Profile> ReadPerfData(Input& input, const ImportOptions&, ImportReport& report) {
  // Build ids may come behind the samples of what they are the ids of: two passes.
  if (input.is_stream()) TRY(input.All());
  TRY_ASSIGN(const perfdata::Reader reader, perfdata::Reader::Open(input));
  return Importer(reader, report).Run();
}

}  // namespace perftape
