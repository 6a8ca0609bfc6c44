// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/new_features.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "convert/rewrite/tracing_data.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::rewrite {
namespace {

using perfdata::Feature;
using perfdata::FeatureBit;
using perfdata::FeatureValue;

// Offset of the feature bits in struct perf_file_header.
constexpr std::uint64_t kBitsField = 0x48;

class FeatureBuilder {
 public:
  FeatureBuilder(const RecoveredLayout& layout, const Gathered& gathered,
                 std::vector<FeatureOutcome>& outcomes)
      : layout_(layout), gathered_(gathered), outcomes_(outcomes) {}

  std::vector<Feature> Build() && {
    for (const auto& [bit, section] : layout_.features) AddFeature(bit, section);
    for (const FeatureBit bit : layout_.lost_features) {
      const std::uint64_t offset =
          kBitsField + std::to_underlying(bit) / 64 * sizeof(std::uint64_t);
      Lose(bit, fmt::format("at {:#x}: its bit is set, but the file does not contain its section",
                            offset));
    }
    AddMissing();
    return std::move(features_);
  }

 private:
  void AddFeature(FeatureBit bit, Bytes section) {
    switch (bit) {
      case FeatureBit::kCompressed:
        return Note(bit, FeatureFate::kLeftOut, "the records are not compressed");
      case FeatureBit::kDirFormat:
        return Note(bit, FeatureFate::kLeftOut, "the output is one file");
      case FeatureBit::kAuxtrace:
        return;  // AddMissing: it has offsets in the old file
      case FeatureBit::kEventDesc:
        return AddEventDesc(section);
      case FeatureBit::kSampleTime:
        if (gathered_.lost_records && gathered_.last_sample_ns != 0) {
          return Add(bit, SampleTime(), FeatureFate::kRebuilt, "records were lost");
        }
        break;
      case FeatureBit::kTracingData:
        // The section contains its own byte order.
        if (!IsTracingData(section)) return Lose(bit, At(section) + "it is damaged");
        return Add(bit, Raw(section), FeatureFate::kKept, "");
      default:
        break;
    }
    CopyFeature(bit, section);
  }

  // Features that can be decoded are copied byte by byte. A feature from a pipe may be padded, and
  // one in the other byte order cannot be copied. These are encoded again if their type is known.
  void CopyFeature(FeatureBit bit, Bytes section) {
    std::uint32_t cpus = 0;
    if (const auto found = layout_.features.find(FeatureBit::kNrCpus);
        found != layout_.features.end()) {
      const auto value = perfdata::DecodeFeature(found->first, found->second, layout_.order, 0);
      if (value) cpus = std::get<perfdata::NrCpus>(*value).available;
    }
    Result<FeatureValue> value = perfdata::DecodeFeature(bit, section, layout_.order, cpus);
    if (!value && section.empty()) return Note(bit, FeatureFate::kLeftOut, "it is empty");
    if (!value) return Lose(bit, At(section) + value.error().message);
    const bool is_typed = !std::holds_alternative<perfdata::RawFeature>(*value);
    const bool is_native = layout_.order == std::endian::native || section.empty();
    if (!is_typed && !is_native) {
      return Lose(bit, At(section) + "its byte order is unknown");
    }
    if (is_native && layout_.container == perfdata::Container::kFile) *value = Raw(section);
    Add(bit, *std::move(value), FeatureFate::kKept, "");
  }

  void AddEventDesc(Bytes section) {
    const auto value = perfdata::DecodeFeature(FeatureBit::kEventDesc, section, layout_.order, 0);
    if (value) return Add(FeatureBit::kEventDesc, EventDesc(), FeatureFate::kKept, "");
    Add(FeatureBit::kEventDesc, EventDesc(), FeatureFate::kRebuilt,
        At(section) + value.error().message);
  }

  // Adds features that had no section in the file, or whose section was lost.
  void AddMissing() {
    if (!Has(FeatureBit::kEventDesc)) AddMade(FeatureBit::kEventDesc, EventDesc());
    const bool may_miss = layout_.container == perfdata::Container::kPipe ||
                          gathered_.lost_records || !layout_.lost_features.empty();
    if (may_miss && !Has(FeatureBit::kSampleTime) && gathered_.last_sample_ns != 0) {
      AddMade(FeatureBit::kSampleTime, SampleTime());
    }
    if (may_miss && !Has(FeatureBit::kBuildId) && !gathered_.build_ids.empty()) {
      AddMade(FeatureBit::kBuildId, perfdata::BuildIds{gathered_.build_ids});
    }
    AddTracingData();
    if (!gathered_.traces.empty()) {
      AddMade(FeatureBit::kAuxtrace, TraceIndex());
    } else if (layout_.features.contains(FeatureBit::kAuxtrace)) {
      Note(FeatureBit::kAuxtrace, FeatureFate::kLeftOut, "there is no trace");
    }
  }

  void AddTracingData() {
    if (Has(FeatureBit::kTracingData)) return;
    if (IsTracingData(gathered_.tracing_data)) {
      return AddMade(FeatureBit::kTracingData, Raw(gathered_.tracing_data));
    }
    if (!gathered_.tracing_data.empty()) {
      Lose(FeatureBit::kTracingData, At(gathered_.tracing_data) + "it is damaged");
    }
    const auto events = layout_.events.all();
    const bool has_tracepoint = std::ranges::any_of(events, [](const perfdata::Event& event) {
      return event.attr.type == perfdata::kTypeTracepoint;
    });
    if (!has_tracepoint) return;
    // perf does not open a file with tracepoints and without their formats. Early versions of
    // simpleperf wrote none.
    const auto lost = std::ranges::find(outcomes_, FeatureBit::kTracingData, &FeatureOutcome::bit);
    FeatureFate fate = FeatureFate::kMade;
    std::string reason = "no formats of tracepoints were found; the fields of samples are unknown";
    if (lost != outcomes_.end()) {
      fate = FeatureFate::kRebuilt;
      reason = std::exchange(lost->reason, "");
      outcomes_.erase(lost);
    } else if (gathered_.lost_records) {
      fate = FeatureFate::kRebuilt;  // a record may have had them
    }
    Add(FeatureBit::kTracingData, MakeTracingData(events), fate, std::move(reason));
  }

  // Adds a feature made from the records. It was lost before only if its bit was set.
  void AddMade(FeatureBit bit, FeatureValue value) {
    const auto lost = std::ranges::find(outcomes_, bit, &FeatureOutcome::bit);
    if (lost == outcomes_.end()) {
      return Add(bit, std::move(value), FeatureFate::kMade, "from the records");
    }
    std::string reason = std::exchange(lost->reason, "");
    outcomes_.erase(lost);
    Add(bit, std::move(value), FeatureFate::kRebuilt, std::move(reason));
  }

  void Add(FeatureBit bit, FeatureValue value, FeatureFate fate, std::string reason) {
    features_.push_back({bit, std::move(value)});
    Note(bit, fate, std::move(reason));
  }
  void Lose(FeatureBit bit, std::string reason) {
    Note(bit, FeatureFate::kDropped, std::move(reason));
  }
  void Note(FeatureBit bit, FeatureFate fate, std::string reason) {
    outcomes_.push_back({bit, fate, std::move(reason)});
  }
  bool Has(FeatureBit bit) const {
    return std::ranges::find(features_, bit, &Feature::bit) != features_.end();
  }

  // Returns "at 0x1f40: " for bytes of the file; empty for other bytes.
  std::string At(Bytes bytes) const {
    if (bytes.data() == nullptr) return "";
    return fmt::format("at {:#x}: ", bytes.data() - layout_.file.data());
  }

  static perfdata::RawFeature Raw(Bytes section) { return {{section.begin(), section.end()}}; }
  perfdata::EventDesc EventDesc() const {
    const auto events = layout_.events.all();
    return {{events.begin(), events.end()}};
  }
  perfdata::SampleTime SampleTime() const {
    return {.first_ns = gathered_.first_sample_ns, .last_ns = gathered_.last_sample_ns};
  }
  // write_auxtrace: { u64 nr; { u64 file_offset, sz; }[nr]; }
  perfdata::RawFeature TraceIndex() const {
    perfdata::RawFeature index;
    ByteWriter at(index.payload);
    at.Fixed(std::uint64_t{gathered_.traces.size()});
    for (const perfdata::Section& trace : gathered_.traces) {
      at.Fixed(trace.offset);
      at.Fixed(trace.size);
    }
    return index;
  }

  const RecoveredLayout& layout_;
  const Gathered& gathered_;
  std::vector<FeatureOutcome>& outcomes_;
  std::vector<Feature> features_;
};

// The largest number of entries that are collected. The records still have all of them.
constexpr std::size_t kMostBuildIds = 1 << 16;

void GatherTime(const perfdata::RecordView& sample, const perfdata::EventTable& events,
                Gathered& gathered) {
  const perfdata::Event* event = events.EventOf(sample);
  const std::uint64_t time = event == nullptr ? 0 : perfdata::TimeOf(sample, event->format);
  if (time == 0) return;
  std::uint64_t& first = gathered.first_sample_ns;
  first = first == 0 ? time : std::min(first, time);
  gathered.last_sample_ns = std::max(gathered.last_sample_ns, time);
}

// HEADER_FEATURE: { struct perf_event_header header; u64 feat_id; char data[]; }
constexpr std::size_t kMostInARecord = perfdata::kMaxRecordSize - 16;

std::vector<std::byte> SectionOf(const Feature& feature) {
  std::vector<std::byte> section;
  EncodeFeature(feature.value, section);
  return section;
}

// Returns why a pipe cannot contain the feature; empty if it can.
std::string ReasonAgainst(const Feature& feature) {
  // tools/perf/util/header.c, feat_ops: perf report fails at a feature above the last one.
  if (feature.bit == FeatureBit::kAuxtrace) return "its offsets have no meaning in a pipe";
  if (feature.bit > FeatureBit::kMemoryRanges) return "perf does not read this feature from a pipe";
  if (SectionOf(feature).size() > kMostInARecord) return "it does not fit into a record";
  return "";
}

bool IsARecordOfItsOwn(FeatureBit bit) {
  return bit == FeatureBit::kTracingData || bit == FeatureBit::kBuildId;
}

Status AppendTracingData(Bytes section, std::vector<std::byte>& out) {
  const std::size_t padding = -section.size() % 8;
  const auto size = static_cast<std::uint32_t>(section.size() + padding);
  TRY(perfdata::Encode(perfdata::HeaderTracingData{.size = size}, 0, out));
  ByteWriter(out).Blob(section, size);
  return {};
}

Status AppendBuildIds(Bytes section, std::vector<std::byte>& out) {
  TRY_ASSIGN(const perfdata::FeatureValue value,
             perfdata::DecodeFeature(FeatureBit::kBuildId, section, std::endian::native, 0));
  for (const perfdata::BuildIdEntry& entry : std::get<perfdata::BuildIds>(value).entries) {
    const auto misc =
        static_cast<std::uint16_t>(perfdata::MiscOf(entry.mode) | perfdata::kMiscBuildIdSize);
    TRY(perfdata::Encode(
        perfdata::HeaderBuildId{.build_id = entry.build_id, .filename = entry.filename}, misc,
        out));
  }
  return {};
}

}  // namespace

void Gather(const perfdata::RecordView& record, const perfdata::EventTable& events,
            Gathered& gathered) {
  if (record.type == perfdata::RecordType::kSample) return GatherTime(record, events, gathered);
  if (record.type != perfdata::RecordType::kHeaderBuildId) return;
  const auto entry = perfdata::Decode<perfdata::HeaderBuildId>(record, {});
  if (!entry || gathered.build_ids.size() == kMostBuildIds) return;
  gathered.build_ids.push_back({record.cpumode(), entry->build_id, std::string(entry->filename)});
}

void GatherTracingData(const perfdata::RecordView& record, Gathered& gathered) {
  if (gathered.tracing_data.empty()) gathered.tracing_data = perfdata::TracingDataIn(record);
}

std::vector<Feature> FeaturesFor(const RecoveredLayout& layout, const Gathered& gathered,
                                 std::vector<FeatureOutcome>& outcomes) {
  std::vector<Feature> features = FeatureBuilder(layout, gathered, outcomes).Build();
  std::ranges::sort(outcomes, {}, &FeatureOutcome::bit);
  return features;
}

std::vector<Feature> FeaturesOfPipe(std::span<const Feature> features,
                                    std::vector<FeatureOutcome>& outcomes) {
  std::vector<Feature> sent;
  for (const Feature& feature : features) {
    if (IsARecordOfItsOwn(feature.bit)) continue;
    std::string reason = ReasonAgainst(feature);
    if (reason.empty()) {
      sent.push_back(feature);
      continue;
    }
    const auto outcome = std::ranges::find(outcomes, feature.bit, &FeatureOutcome::bit);
    if (outcome != outcomes.end())
      *outcome = {feature.bit, FeatureFate::kLeftOut, std::move(reason)};
  }
  return sent;
}

Result<std::vector<std::byte>> RecordsOfFeatures(std::span<const Feature> features) {
  std::vector<std::byte> records;
  for (const Feature& feature : features) {
    if (feature.bit == FeatureBit::kTracingData)
      TRY(AppendTracingData(SectionOf(feature), records));
    if (feature.bit == FeatureBit::kBuildId) TRY(AppendBuildIds(SectionOf(feature), records));
  }
  return records;
}

}  // namespace perftape::rewrite
