// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_script.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/import/clock_period.h"
#include "convert/import/script_samples.h"
#include "convert/import/time_window.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "formats/base/progress.h"
#include "formats/base/unknown_name.h"
#include "formats/base/utf8_text.h"
#include "formats/perfdata/converted.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/period_unit.h"
#include "formats/script/escape.h"
#include "formats/script/reader.h"

namespace perftape::convert {
namespace {

// The name of an event that the text does not name.
constexpr std::string_view kUnnamedEvent = "samples";

// The times of the first and the last sample.
struct ScriptTimes {
  std::uint64_t first = UINT64_MAX, last = 0;

  bool is_empty() const { return first > last; }
  void Add(std::uint64_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

// Returns the time of a sample; 0 if it has none, as perf prints it.
std::uint64_t TimeOf(const script::Sample& sample) {
  return sample.head.time_ns.value_or(0);
}

// Counts the samples that are earlier than the sample before them. perf script sorts by time, so
// such a text has several recordings, or its lines were moved.
class TimeOrder {
 public:
  void Add(std::uint64_t time) {
    if (time == 0) return;
    if (time < last_ && late_++ == 0) {
      first_late_ = time;
      before_it_ = last_;
    }
    last_ = time;
  }

  // Returns the note for the report; empty if the times only grow.
  std::string Note() const {
    if (late_ == 0) return {};
    constexpr double kSecond = 1e9;
    return fmt::format(
        "times run backwards {} (the first: {:.6f} s after {:.6f} s): the text contains several "
        "recordings, or is not sorted by time; sample times and durations may be wrong",
        late_ == 1 ? "once" : fmt::format("{} times", late_),
        static_cast<double>(first_late_) / kSecond, static_cast<double>(before_it_) / kSecond);
  }

 private:
  std::uint64_t last_ = 0, late_ = 0;
  std::uint64_t first_late_ = 0, before_it_ = 0;
};

bool NeedsTimesFirst(const ImportOptions& options) {
  return options.time || options.first_times || options.histogram_bins != 0;
}

class ScriptImporter {
 public:
  ScriptImporter(const ImportOptions& options, ImportReport& report)
      : options_(options), report_(report) {}

  Result<Profile> Import(Input& input);

 private:
  struct AddedEvent {
    EventId id = {};
    bool is_plain = false;
    Event event = {};
    ClockPeriod period;
  };

  Result<Profile> ReadAll(script::Reader reader, std::size_t size);
  void LookThrough(script::Reader reader, std::size_t size);
  void AddSample(const script::Sample& sample, const script::Header& header);
  AddedEvent& EventOf(const script::Head& head, const script::Header& header);
  ThreadId ThreadOf(const script::Head& head, const script::Header& header);
  LabelsId LabelsOf(const script::Head& head);
  void Describe(const script::Reader& reader);
  void SetPeriods();

  const ImportOptions& options_;
  ImportReport& report_;
  ProfileBuilder builder_;
  ScriptStacks stacks_{builder_};
  ScriptTimes all_times_;   // of all samples, if they are needed first
  ScriptTimes kept_times_;  // of those in the profile
  TimeOrder order_;
  std::optional<TimeWindow> window_;
  std::map<std::string, AddedEvent, std::less<>> events_;
  std::vector<Label> labels_;
};

Result<Profile> ScriptImporter::Import(Input& input) {
  if (BeginsWithMark(input.beginning())) {
    TRY_ASSIGN(const Bytes bytes, input.All());
    const Utf8Text text(bytes);
    if (text.broken() != 0) report_.problems.push_back(BrokenTextLine(text.broken()));
    if (NeedsTimesFirst(options_)) LookThrough(script::Reader(text.view()), text.view().size());
    return ReadAll(script::Reader(text.view()), text.view().size());
  }
  if (NeedsTimesFirst(options_)) {
    TRY(input.All());
    LookThrough(script::Reader(input), input.beginning().size());
  }
  TRY_ASSIGN(Profile profile,
             ReadAll(script::Reader(input), input.is_stream() ? 0 : input.beginning().size()));
  if (input.error()) return Fail(*input.error());
  return profile;
}

// `size` is that of the text, 0 if it is not known.
Result<Profile> ScriptImporter::ReadAll(script::Reader reader, std::size_t size) {
  if (size != 0) AddWorkToProgress(size, 1);
  ProgressMeter progress(0);
  DeferredScriptSamples deferred(
      [&](const script::Sample& sample) { AddSample(sample, reader.header()); });
  for (script::Sample sample; reader.Next(sample);) {
    progress.MoveTo(reader.position(), report_.samples);
    order_.Add(TimeOf(sample));
    deferred.Add(sample);
  }
  deferred.Finish();
  report_.without_user_frames = deferred.without_user_frames();
  progress.Finish(reader.position(), report_.samples);
  Describe(reader);
  SetPeriods();
  return std::move(builder_).Finish();
}

void ScriptImporter::SetPeriods() {
  for (auto& [name, added] : events_) {
    added.event.period = added.period.value();
    builder_.Add(added.event);
  }
}

void ScriptImporter::LookThrough(script::Reader reader, std::size_t size) {
  AddWorkToProgress(size, 1);
  ProgressMeter progress(0);
  for (script::Sample sample; reader.Next(sample);) {
    progress.MoveTo(reader.position(), 0);
    if (const std::uint64_t time = TimeOf(sample)) all_times_.Add(time);
  }
  if (all_times_.is_empty()) return;
  const TimeWindow recording = {.first = ToSigned(all_times_.first),
                                .last = ToSigned(all_times_.last)};
  if (options_.time) window_ = Resolve(*options_.time, recording);
  if (options_.histogram_bins == 0) return;
  report_.histogram = {.first_ns = all_times_.first,
                       .last_ns = all_times_.last,
                       .samples = std::vector<std::uint64_t>(options_.histogram_bins)};
}

void ScriptImporter::AddSample(const script::Sample& sample, const script::Header& header) {
  const std::uint64_t time = TimeOf(sample);
  if (window_ && time != 0 && !window_->Has(ToSigned(time))) {
    ++report_.outside_time;
    return;
  }
  AddedEvent& event = EventOf(sample.head, header);
  Sample added = {.stack = stacks_.Add(sample.frames, header.writer),
                  .thread = ThreadOf(sample.head, header),
                  .event = event.id,
                  .labels = LabelsOf(sample.head),
                  .count = event.is_plain ? 0 : 1,
                  .period = ToSigned(sample.head.period.value_or(1))};
  if (options_.first_times && time != 0) {
    constexpr std::uint64_t kMost = Sample::kNoTime - 1;
    added.first_ms =
        static_cast<std::uint32_t>(std::min((time - all_times_.first) / 1'000'000, kMost));
  }
  builder_.Add(added);
  event.period.Add(added.count, added.period);
  ++report_.samples;
  report_.frames += sample.frames.size();
  if (time == 0) return;
  kept_times_.Add(time);
  report_.histogram.Add(time, 1);
}

ScriptImporter::AddedEvent& ScriptImporter::EventOf(const script::Head& head,
                                                    const script::Header& header) {
  const auto known = events_.find(head.event);
  if (known != events_.end()) return known->second;
  const bool is_ours = header.writer == script::Writer::kPerftape;
  const std::string name = head.event.empty() ? std::string(kUnnamedEvent)
                           : is_ours          ? script::Unescaped(head.event)
                                              : std::string(head.event);
  const auto described = std::ranges::find(header.events, name, &script::HeaderEvent::name);
  const bool is_described = described != header.events.end();
  const bool is_plain = is_described && described->is_plain;
  const Event event = {
      .name = builder_.Add(name),
      .unit = builder_.Add(is_described ? described->unit : perfdata::PeriodUnitOf(name)),
      .values = is_plain ? EventValues::kPlain : EventValues::kSampled};
  const AddedEvent added = {.id = builder_.Add(event),
                            .is_plain = is_plain,
                            .event = event,
                            .period = ClockPeriod(is_plain ? std::string_view() : name)};
  return events_.emplace(head.event, added).first->second;
}

ThreadId ScriptImporter::ThreadOf(const script::Head& head, const script::Header& header) {
  const bool is_none =
      head.tid == perfdata::kNoThread && head.pid.value_or(perfdata::kNoThread) == head.tid;
  if (is_none && (head.comm.empty() || head.comm == script::kNoThreadComm)) return {};
  const bool is_ours = header.writer == script::Writer::kPerftape;
  static_assert(script::kNoId == kUnknownId);
  const std::string_view comm = is_ours && head.comm == kUnknownName ? "" : head.comm;
  if (is_none) {
    return builder_.Add(Thread{.pid = kUnknownId, .tid = kUnknownId, .comm = builder_.Add(comm)});
  }
  return builder_.Add(
      Thread{.pid = head.pid.value_or(kUnknownId), .tid = head.tid, .comm = builder_.Add(comm)});
}

LabelsId ScriptImporter::LabelsOf(const script::Head& head) {
  labels_.clear();
  const auto add = [&](std::string_view key, std::uint64_t number, std::string_view unit) {
    labels_.push_back(
        {.key = builder_.Add(key), .number = ToSigned(number), .unit = builder_.Add(unit)});
  };
  if (options_.cpu_label && head.cpu) add(kCpuLabel, *head.cpu, kCpuLabel);
  if (options_.time_label && head.time_ns.value_or(0) != 0) {
    add(kTimestampLabel, *head.time_ns, perfdata::kNanoseconds);
  }
  return labels_.empty() ? LabelsId{} : builder_.Add(labels_);
}

// Reports what the text has besides samples.
void ScriptImporter::Describe(const script::Reader& reader) {
  const script::ReaderCounts counts = reader.counts();
  // Each chunk is a LOST record, which counts several.
  report_.lost_records = std::max(counts.lost_records, counts.lost_chunks);
  report_.lost_samples = counts.lost_samples;
  report_.unmapped_frames = stacks_.unmapped_frames();
  if (counts.bad_lines != 0) {
    report_.problems.push_back(
        fmt::format("left out {} that perf script does not print; the first is line {}",
                    counts.bad_lines == 1 ? "1 line" : fmt::format("{} lines", counts.bad_lines),
                    counts.first_bad_line));
  }
  if (counts.trace_errors != 0) {
    report_.notes.push_back(fmt::format("{}, the first: {}; a part of the trace is missing",
                                        counts.trace_errors == 1
                                            ? "1 trace error"
                                            : fmt::format("{} trace errors", counts.trace_errors),
                                        counts.first_trace_error));
  }
  if (std::string note = order_.Note(); !note.empty()) report_.notes.push_back(std::move(note));
  Metadata metadata = {.comments = reader.header().comments};
  if (!kept_times_.is_empty()) {
    metadata.duration_ns = ToSigned(kept_times_.last - kept_times_.first);
  }
  builder_.SetMetadata(std::move(metadata));
}

}  // namespace

bool IsScript(const Input& input) {
  return script::IsScript(Utf8Text(input.first(4096)).view());
}

Result<Profile> ReadScript(Input& input, const ImportOptions& options, ImportReport& report) {
  return ScriptImporter(options, report).Import(input);
}

}  // namespace perftape::convert
