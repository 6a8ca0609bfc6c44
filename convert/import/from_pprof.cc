// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_pprof.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/import/clock_period.h"
#include "convert/import/dictionary_tables.h"
#include "convert/import/pprof_tables.h"
#include "convert/import/time_window.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "formats/base/joined_files.h"
#include "formats/pprof/gzip.h"
#include "formats/pprof/message_cursor.h"

namespace perftape::convert {
namespace {

// Decompression is limited relative to the file's size, so that a small file cannot use up all
// memory. Every known profile compresses less than 10 times.
constexpr std::uint64_t kMaxExpansion = 64;
constexpr std::uint64_t kAlwaysAllowedSize = std::uint64_t{32} << 20;
constexpr std::uint64_t kMaxSize = std::uint64_t{2} << 30;  // the limit of protobuf itself

// The indexes of an event's numbers in a sample's values.
struct EventColumns {
  EventId event = {};
  std::optional<std::size_t> count = {};
  std::size_t period = 0;  // or the plain value
  Event added = {};
  ClockPeriod clock;
};

// Returns "cycles" for "cycles_sample"; nothing if the text does not end in `ending`.
std::optional<std::string_view> StemOf(std::string_view text, std::string_view ending) {
  if (!text.ends_with(ending)) return std::nullopt;
  text.remove_suffix(ending.size());
  return text;
}

class PprofImport {
 public:
  PprofImport(Bytes encoded, const DictionaryLimits& limits, const ImportOptions& options,
              ImportReport& report)
      : encoded_(encoded), limits_(limits), options_(options), report_(report) {}

  Result<Profile> Run() {
    TRY_ASSIGN(TextTable texts, ReadTexts(encoded_, limits_.texts, builder_));
    texts_ = &texts;
    if (const Status read = ReadTables(); !read) {
      if (!texts.begins_again()) return Fail(read.error());
      return Fail(read.error().code, read.error().message + ": " + std::string(kJoinedFiles));
    }
    SetClockPeriods();
    return std::move(builder_).Finish();
  }

 private:
  struct Frames {
    StackId stack = {};
    std::uint64_t unmapped = 0;  // number of unmapped ones
  };

  Status ReadTables();
  void AddEvents(const pprof::Header& header);
  bool IsPair(const pprof::ValueType& first, const pprof::ValueType& second);
  void SetMetadata(const pprof::Header& header);
  void SetPeriod(const pprof::Header& header, Metadata& metadata);
  void SetClockPeriods();
  Status FindTimeWindow(const TimeRange& range);
  Status AddSamples();
  Status AddSample(const pprof::Sample& sample, std::size_t index);
  void AddValues(const pprof::Sample& sample, StackId stack);
  Result<StackId> StackOf(const pprof::Sample& sample, std::size_t index);
  void ReadLabels(const std::vector<pprof::Label>& labels);
  std::optional<Thread> ReadThread(const std::vector<pprof::Label>& labels);
  bool IsOutsideTime(const pprof::Sample& sample);
  std::optional<std::int64_t> TimeOf(const pprof::Sample& sample);

  const Bytes encoded_;
  DictionaryLimits limits_;  // of frames: the number that may still be added
  const ImportOptions& options_;
  ImportReport& report_;
  ProfileBuilder builder_;
  TextTable* texts_ = nullptr;
  PprofLocations locations_;

  std::size_t type_count_ = 0;
  std::vector<EventColumns> columns_;
  std::optional<Event> last_sampled_;
  bool header_has_last_period_ = false;
  std::optional<TimeWindow> window_;

  // Of the previous sample, because the next one usually differs in little.
  std::vector<std::uint64_t> last_ids_;
  std::vector<Frames> last_stacks_ = {{}};  // of its 0, 1, 2, … outermost frames
  std::vector<pprof::Label> last_labels_;
  ThreadId thread_ = {};
  LabelsId labels_ = {};

  std::vector<Label> scratch_;
};

Status PprofImport::ReadTables() {
  TRY_ASSIGN(const pprof::Header header, pprof::DecodeHeader(encoded_));
  AddEvents(header);
  SetMetadata(header);
  if (!texts_->ok()) return Fail(ErrorCode::kCorrupt, "header: string out of range");
  TRY_ASSIGN(locations_, ReadLocations(encoded_, *texts_, builder_, report_));
  if (options_.time) TRY(FindTimeWindow(*options_.time));
  return AddSamples();
}

bool PprofImport::IsPair(const pprof::ValueType& first, const pprof::ValueType& second) {
  const auto stem = StemOf(texts_->View(first.type), "_sample");
  return stem && stem == StemOf(texts_->View(second.type), "_event") &&
         texts_->View(first.unit) == "count";
}

void PprofImport::AddEvents(const pprof::Header& header) {
  const std::vector<pprof::ValueType>& types = header.sample_types;
  type_count_ = types.size();
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool is_pair = i + 1 < types.size() && IsPair(types[i], types[i + 1]);
    Event event = {.values = is_pair ? EventValues::kSampled : EventValues::kPlain};
    std::optional<std::size_t> count;
    std::string_view sampled;  // the name of a sampled event
    if (is_pair) {
      count = i++;
      sampled = *StemOf(texts_->View(types[i].type), "_event");
    }
    event.unit = texts_->Add(types[i].unit);
    event.name = is_pair ? builder_.Add(sampled) : texts_->Add(types[i].type);
    const EventId id = builder_.Add(event);
    if (is_pair) last_sampled_ = event;
    if (std::ranges::find(columns_, id, &EventColumns::event) != columns_.end()) {
      report_.problems.push_back(
          "sample type " + std::to_string(i) +
          " has the name and unit of an earlier one: its values are left out");
      continue;
    }
    columns_.push_back(
        {.event = id, .count = count, .period = i, .added = event, .clock = ClockPeriod(sampled)});
  }
}

void PprofImport::SetMetadata(const pprof::Header& header) {
  Metadata metadata = {.duration_ns = header.duration_nanos,
                       .drop_frames = std::string(texts_->View(header.drop_frames)),
                       .keep_frames = std::string(texts_->View(header.keep_frames)),
                       .doc_url = std::string(texts_->View(header.doc_url)),
                       .default_value = std::string(texts_->View(header.default_sample_type))};
  if (header.time_nanos != 0) metadata.start_time_ns = header.time_nanos;
  for (const pprof::StringIndex comment : header.comments) {
    metadata.comments.emplace_back(texts_->View(comment));
  }
  SetPeriod(header, metadata);
  builder_.SetMetadata(std::move(metadata));
}

// If header.period_type is that of the last sampled event, the period belongs to that event.
// to_pprof writes it so.
void PprofImport::SetPeriod(const pprof::Header& header, Metadata& metadata) {
  const pprof::ValueType type = header.period_type.value_or(pprof::ValueType{});
  const bool is_own = last_sampled_ && header.period >= 0 &&
                      texts_->Add(type.type) == last_sampled_->name &&
                      texts_->Add(type.unit) == last_sampled_->unit;
  header_has_last_period_ = is_own;
  if (is_own) {
    last_sampled_->period = static_cast<std::uint64_t>(header.period);
    builder_.Add(*last_sampled_);
  } else if (last_sampled_ || header.period_type || header.period != 0) {
    metadata.period_type = ValueType{.name = std::string(texts_->View(type.type)),
                                     .unit = std::string(texts_->View(type.unit))};
    metadata.period = header.period;
  }
}

// The header has the period of one event only.
void PprofImport::SetClockPeriods() {
  for (EventColumns& column : columns_) {
    if (header_has_last_period_ && column.added.name == last_sampled_->name) continue;
    column.added.period = column.clock.value();
    builder_.Add(column.added);
  }
}

std::optional<std::int64_t> PprofImport::TimeOf(const pprof::Sample& sample) {
  for (const pprof::Label& label : sample.labels) {
    if (label.str == 0 && texts_->View(label.key) == kTimestampLabel) return label.num;
  }
  return std::nullopt;
}

Status PprofImport::FindTimeWindow(const TimeRange& range) {
  std::optional<TimeWindow> recording;
  pprof::MessageCursor<pprof::Sample> samples(encoded_);
  while (true) {
    TRY_ASSIGN(const pprof::Sample* const sample, samples.Next());
    if (sample == nullptr) break;
    const auto time = TimeOf(*sample);
    if (!time) continue;
    if (!recording) recording = {.first = *time, .last = *time};
    recording->first = std::min(recording->first, *time);
    recording->last = std::max(recording->last, *time);
  }
  if (recording) window_ = Resolve(range, *recording);
  return {};
}

bool PprofImport::IsOutsideTime(const pprof::Sample& sample) {
  if (!window_) return false;
  const auto time = TimeOf(sample);
  return time && !window_->Has(*time);
}

Status PprofImport::AddSamples() {
  pprof::MessageCursor<pprof::Sample> samples(encoded_);
  for (std::size_t i = 0;; ++i) {
    TRY_ASSIGN(const pprof::Sample* const sample, samples.Next());
    if (sample == nullptr) return {};
    TRY(AddSample(*sample, i));
  }
}

Status PprofImport::AddSample(const pprof::Sample& sample, std::size_t index) {
  if (sample.values.size() != type_count_ || type_count_ == 0) {
    return WrongEntry("sample", index,
                      "the number of values differs from the number of sample types");
  }
  if (sample.labels != last_labels_) ReadLabels(sample.labels);
  if (!texts_->ok()) return WrongEntry("sample", index, "label's string out of range");
  if (IsOutsideTime(sample)) {
    ++report_.outside_time;
    return {};
  }
  TRY_ASSIGN(const StackId stack, StackOf(sample, index));
  AddValues(sample, stack);
  ++report_.samples;
  return {};
}

Result<StackId> PprofImport::StackOf(const pprof::Sample& sample, std::size_t index) {
  const std::vector<std::uint64_t>& ids = sample.location_ids;
  const auto differ =
      std::ranges::mismatch(ids.rbegin(), ids.rend(), last_ids_.rbegin(), last_ids_.rend());
  last_stacks_.resize(static_cast<std::size_t>(differ.in1 - ids.rbegin()) + 1);
  for (auto id = differ.in1; id != ids.rend(); ++id) {
    const DictionaryLocation* location = locations_.Find(*id);
    if (location == nullptr) return WrongEntry("sample", index, "no such location");
    if (limits_.frames-- == 0) {
      return WrongEntry("sample", index, "more frames so far than a file of this size can contain");
    }
    last_stacks_.push_back({.stack = builder_.Push(last_stacks_.back().stack, location->id),
                            .unmapped = last_stacks_.back().unmapped + !location->is_mapped});
  }
  last_ids_ = ids;
  report_.frames += ids.size();
  report_.unmapped_frames += last_stacks_.back().unmapped;
  return last_stacks_.back().stack;
}

// A sample whose values are all 0 is kept as a 0 of the first event.
void PprofImport::AddValues(const pprof::Sample& sample, StackId stack) {
  bool has_any = false;
  const auto add = [&](const EventColumns& column, std::int64_t count) {
    builder_.Add(Sample{.stack = stack,
                        .thread = thread_,
                        .event = column.event,
                        .labels = labels_,
                        .count = count,
                        .period = sample.values[column.period]});
    has_any = true;
  };
  for (EventColumns& column : columns_) {
    const std::int64_t count = column.count ? sample.values[*column.count] : 0;
    column.clock.Add(count, sample.values[column.period]);
    if (count != 0 || sample.values[column.period] != 0) add(column, count);
  }
  if (!has_any) add(columns_.front(), 0);
}

void PprofImport::ReadLabels(const std::vector<pprof::Label>& labels) {
  const std::optional<Thread> thread = ReadThread(labels);
  scratch_.clear();
  for (const pprof::Label& label : labels) {
    const std::string_view key = texts_->View(label.key);
    if (thread && IsThreadLabel(key)) continue;
    const StringId text = texts_->Add(label.str);
    // A label is a text or a number. If a file has both, Go uses the text.
    const bool is_number = text == StringId{};
    scratch_.push_back({.key = texts_->Add(label.key),
                        .text = text,
                        .number = is_number ? label.num : 0,
                        .unit = is_number ? texts_->Add(label.num_unit) : StringId{}});
  }
  thread_ = thread ? builder_.Add(*thread) : ThreadId{};
  labels_ = builder_.Add(scratch_);
  last_labels_ = labels;
}

// Returns the thread that these labels describe; nothing if they differ from the labels that
// perftape writes, which lack what is unknown.
std::optional<Thread> PprofImport::ReadThread(const std::vector<pprof::Label>& labels) {
  Thread thread = {.pid = kUnknownId, .tid = kUnknownId};
  int pids = 0;
  int tids = 0;
  int comms = 0;
  for (const pprof::Label& label : labels) {
    const std::string_view key = texts_->View(label.key);
    const bool is_id = label.str == 0 && texts_->View(label.num_unit) == key &&
                       label.num == static_cast<std::int32_t>(label.num);
    if (key == kPidLabel) {
      pids += is_id ? 1 : 2;
      thread.pid = static_cast<std::uint32_t>(label.num);
    } else if (key == kTidLabel) {
      tids += is_id ? 1 : 2;
      thread.tid = static_cast<std::uint32_t>(label.num);
    } else if (key == kCommLabel) {
      thread.comm = texts_->Add(label.str);
      comms += thread.comm == StringId{} ? 2 : 1;
    }
  }
  const bool is_one = pids <= 1 && tids <= 1 && comms <= 1 && pids + tids + comms != 0;
  const bool is_none = thread.pid == 0 && thread.tid == 0 && thread.comm == StringId{};
  return is_one && !is_none ? std::optional(thread) : std::nullopt;
}

// Returns the bytes of the profile: those of the file, or its decompressed content.
Result<Bytes> Expand(Bytes file, std::vector<std::byte>& decompressed) {
  if (!pprof::IsGzip(file)) return file;
  const std::uint64_t most =
      std::min(kMaxSize, std::max(kAlwaysAllowedSize, file.size() * kMaxExpansion));
  TRY_ASSIGN(decompressed, pprof::Gunzip(file, most));
  return Bytes(decompressed);
}

}  // namespace

bool IsPprof(const Input& input) {
  constexpr std::size_t kEnough = 4096;
  if (!pprof::IsGzip(input.beginning())) return pprof::LooksLikeProfile(input.first(kEnough));
  return pprof::LooksLikeProfile(pprof::GunzipBeginning(input.beginning(), kEnough));
}

Result<Profile> ReadPprof(Input& input, const ImportOptions& options, ImportReport& report) {
  TRY_ASSIGN(const Bytes file, input.All());
  std::vector<std::byte> decompressed;
  TRY_ASSIGN(const Bytes encoded, Expand(file, decompressed));
  if (encoded.empty()) return Fail(ErrorCode::kCorrupt, "the profile is empty");
  return PprofImport(encoded, LimitsOf(file), options, report).Run();
}

}  // namespace perftape::convert
