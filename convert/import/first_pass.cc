// SPDX-License-Identifier: Apache-2.0
#include "convert/import/first_pass.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/import/round_clock.h"
#include "convert/import/stack_copies.h"
#include "convert/model/task_event.h"
#include "formats/base/build_id.h"
#include "formats/base/progress.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/record_ranges.h"

namespace perftape::convert {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

// Several memfds may have one name. Which of them has which build id is not recorded, so none has
// one then.
void AddBuildIdOf(std::string filename, const BuildId& build_id, ListedBuildIds& ids) {
  const bool is_name_of_one = !perfdata::MayHoldElfFile(filename);
  const auto [known, is_new] = ids.by_path.try_emplace(std::move(filename), build_id.hex());
  if (!is_new && !is_name_of_one && known->second != build_id.hex()) known->second.clear();
}

bool ReadBuildIdFeature(const perfdata::Reader& reader, ListedBuildIds& ids) {
  const auto value = reader.DecodedFeature(perfdata::FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<perfdata::BuildIds>(&*value) : nullptr;
  if (table == nullptr) return false;
  for (const auto& entry : table->entries) {
    AddBuildIdOf(entry.filename, entry.build_id, ids);
    ids.kernel_names.Add(entry.mode, entry.filename);
  }
  return true;
}

// HEADER_BUILD_ID records replace the feature in a pipe and in a recording that was killed.
void AddBuildId(const RecordView& record, ListedBuildIds& ids) {
  if (const auto entry = perfdata::Decode<perfdata::HeaderBuildId>(record, {})) {
    AddBuildIdOf(std::string(entry->filename), entry->build_id, ids);
    ids.kernel_names.Add(record.cpumode(), entry->filename);
  }
}

// Returns how many records or samples were lost before this record, which is a LOST or
// LOST_SAMPLES.
std::uint64_t LossOf(const RecordView& record, const perfdata::SampleFormat& format) {
  if (record.type == RecordType::kLost) {
    const auto lost = perfdata::Decode<perfdata::Lost>(record, format);
    return lost ? lost->count : 0;
  }
  // With this bit they are not lost: a filter of perf dropped them intentionally.
  if ((record.misc & perfdata::kMiscLostSamplesBpf) != 0) return 0;
  const auto lost = perfdata::Decode<perfdata::LostSamples>(record, format);
  return lost ? lost->count : 0;
}

// Decodes a record that names a thread. Returns nothing if it is damaged.
template <class Record>
std::optional<Record> DecodeThread(const perfdata::RecordView& record,
                                   const perfdata::SampleFormat& format, TaskEvent& event) {
  const Result<Record> decoded = perfdata::Decode<Record>(record, format);
  if (!decoded) return std::nullopt;
  event.pid = decoded->pid;
  event.tid = decoded->tid;
  return *decoded;
}

// Sets all of `event` but its time. Returns false if the record says nothing of threads.
bool Describe(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
              TaskEvent& event) {
  switch (record.type) {
    case RecordType::kComm: {
      const bool is_exec = (record.misc & perfdata::kMiscCommExec) != 0;
      event.type = is_exec ? TaskEvent::Type::kExec : TaskEvent::Type::kComm;
      const auto comm = DecodeThread<perfdata::Comm>(record, format, event);
      if (comm) event.comm = comm->comm;
      return comm.has_value();
    }
    case RecordType::kFork: {
      event.type = TaskEvent::Type::kFork;
      const auto fork = DecodeThread<perfdata::Fork>(record, format, event);
      if (!fork) return false;
      event.parent_pid = fork->ppid;
      event.parent_tid = fork->ptid;
      return true;
    }
    case RecordType::kExit:
      event.type = TaskEvent::Type::kExit;
      return DecodeThread<perfdata::Exit>(record, format, event).has_value();
    case RecordType::kLost:
    case RecordType::kLostSamples:
      event.type = TaskEvent::Type::kLoss;
      event.lost = LossOf(record, format);
      return event.lost != 0;
    default:
      return false;
  }
}

bool IsSwitch(RecordType type) {
  return type == RecordType::kSwitch || type == RecordType::kSwitchCpuWide;
}

// Whether a time of a record is one of the recording, and not of its initial state.
bool IsRecordedTime(std::uint64_t time) {
  return time != 0 && time <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
}

// Appends a context switch. Without the thread in the trailer, it says nothing.
void NoteSwitch(const RecordView& record, const perfdata::SampleFormat& format, std::uint64_t time,
                std::vector<ThreadSwitch>& switches) {
  if (!IsRecordedTime(time) || !format.Has(perfdata::kTid)) return;
  const perfdata::SampleId trailer = perfdata::DecodeSampleId(record, format);
  switches.push_back({.time_ns = static_cast<std::int64_t>(time),
                      .pid = trailer.pid,
                      .tid = trailer.tid,
                      .is_in = (record.misc & perfdata::kMiscSwitchOut) == 0,
                      .is_preempted = (record.misc & perfdata::kMiscSwitchOutPreempt) != 0,
                      .is_cpu_wide = record.type == RecordType::kSwitchCpuWide});
}

// Appends what a record says of threads. Records of other types, and those of the initial state,
// which has the time 0, add nothing.
void NoteTaskEvent(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                   std::uint64_t time, TaskEvents& events) {
  if (!IsRecordedTime(time)) return;
  TaskEvent event{.time_ns = static_cast<std::int64_t>(time)};
  if (Describe(record, format, event)) events.push_back(std::move(event));
}

// Collects the records that are not samples.
class RecordCollector {
 public:
  RecordCollector(const perfdata::Reader& reader, const ImportOptions& options,
                  FirstPass& first_pass, ImportReport& report)
      : events_(reader.events()),
        options_(options),
        first_pass_(first_pass),
        report_(report),
        has_build_ids_(ReadBuildIdFeature(reader, first_pass.build_ids)) {}

  // Returns whether a record must be passed to Add. Only the times of other records matter.
  static bool Needs(RecordType type, const ImportOptions& options) {
    return (options.thread_switches && IsSwitch(type)) || ProcessHistory::IsProcessRecord(type) ||
           type == RecordType::kLost || type == RecordType::kLostSamples ||
           type == RecordType::kHeaderBuildId || type == RecordType::kEventUpdate ||
           !perfdata::IsKnown(type);
  }

  void Add(const RecordView& record, const perfdata::Event* its_event, const SortKey& key) {
    // All events have the same trailer layout, so any event can decode a process record.
    const perfdata::Event& event = its_event == nullptr ? events_[0] : *its_event;
    if (options_.time_label) NoteTaskEvent(record, event.format, key.time, report_.task_events);
    if (options_.thread_switches && IsSwitch(record.type)) {
      NoteSwitch(record, event.format, key.time, report_.switches);
    } else if (ProcessHistory::IsProcessRecord(record.type)) {
      first_pass_.history.Add(record, event.format, key);
      if (options_.find_jit_dump) first_pass_.jit.Note(record, event.format);
    } else if (record.type == RecordType::kLost) {
      report_.lost_records += LossOf(record, event.format);
    } else if (record.type == RecordType::kLostSamples) {
      report_.lost_samples += LossOf(record, event.format);
    } else if (record.type == RecordType::kHeaderBuildId && !has_build_ids_) {
      AddBuildId(record, first_pass_.build_ids);
    } else if (record.type == RecordType::kEventUpdate) {
      AddUnit(record, first_pass_.units);
    } else if (!perfdata::IsKnown(record.type)) {
      ++report_.unknown_records;
    }
  }

 private:
  const perfdata::EventTable& events_;
  const ImportOptions& options_;
  FirstPass& first_pass_;
  ImportReport& report_;
  const bool has_build_ids_;
};

// A range of records that one thread has read. It is added to the first pass after the ranges
// before it. Aligned to cache lines, because other threads write to neighbouring ranges.
class alignas(128) ScannedRange {
 public:
  // Some records of which only the times matter, and the record after them.
  struct Stretch {
    std::uint64_t skipped = 0;
    TimeSpan times;  // of the skipped records
    RecordView record;
    perfdata::EventLookup::Answer found;
  };

  // `options` must outlive the range.
  ScannedRange(const perfdata::EventTable& events, const ImportOptions& options)
      : options_(&options), lookup_(events) {}

  void Add(const RecordView& record) {
    const perfdata::EventLookup::Answer found = lookup_.Of(record);
    if (record.type == RecordType::kFinishedRound ||
        RecordCollector::Needs(record.type, *options_)) {
      stretches_.push_back({last_.skipped, last_.times, record, found});
      last_ = {};
      return;
    }
    ++last_.skipped;
    const bool is_sample = record.type == RecordType::kSample;
    if (is_sample) ++samples_;
    if (found.time == 0) return;
    if (is_sample) sample_times_.Add(found.time);
    if (found.time != std::numeric_limits<std::uint64_t>::max()) last_.times.Add(found.time);
  }

  // Adds the range to the first pass. Returns false if a record is older than its round allows,
  // because then the times of all records are needed.
  bool Replay(RoundClock& clock, RecordCollector& collector) const {
    for (const Stretch& stretch : stretches_) {
      if (!Advance(clock, stretch)) return false;
      collector.Add(stretch.record, stretch.found.event,
                    clock.KeyOf(stretch.record, stretch.found.time));
    }
    return Advance(clock, last_) && clock.out_of_order() == 0;
  }
  const TimeSpan& sample_times() const { return sample_times_; }
  std::uint64_t samples() const { return samples_; }

 private:
  static bool Advance(RoundClock& clock, const Stretch& stretch) {
    return clock.Advance(stretch.skipped, stretch.times.first, stretch.times.last);
  }

  const ImportOptions* options_;
  perfdata::EventLookup lookup_;
  std::vector<Stretch> stretches_;
  Stretch last_;  // the end, without a record after it
  TimeSpan sample_times_;
  std::uint64_t samples_ = 0;
};

// More ranges than threads, because some threads finish early.
std::size_t WantedRanges(const ImportOptions& options) {
  constexpr std::size_t kForEachThread = 8;
  return options.threads > 1 ? options.threads * kForEachThread : 1;
}

void ScanInOrder(const perfdata::Reader& reader, const ImportOptions& options,
                 FirstPass& first_pass, ImportReport& report) {
  first_pass.range_starts.push_back({.file_offset = reader.data_offset(), .clock = {}});
  RecordCollector collector(reader, options, first_pass, report);
  RoundClock clock;
  perfdata::EventLookup lookup(reader.events());
  perfdata::RecordCursor cursor = reader.records();
  ProgressMeter progress(reader.data_offset());
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    progress.MoveTo(record.file_offset, 0);
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    const std::uint64_t time = first_pass.TimeOf(found.time);
    const SortKey key = clock.KeyOf(record, time);
    if (record.type != RecordType::kSample) {
      collector.Add(record, found.event, key);
      continue;
    }
    ++first_pass.samples;
    if (time != 0) first_pass.times.Add(time);
  }
  if (std::optional<Error> failure = cursor.ReleaseFailure()) {
    ++report.damaged_records;
    report.problems.push_back(std::move(failure)->message);
  }
  progress.Finish(reader.data_offset() + reader.data_size(), 0);
  report.late_records += clock.out_of_order();
}

void FinishFirstPass(const perfdata::Reader& reader, const ImportOptions& options,
                     FirstPass& first_pass, ImportReport& report) {
  first_pass.jit.AddTo(reader.events(), options.find_jit_dump, first_pass.history, report);
  const bool unwinds = UnwindsStacks(reader, options);
  if (unwinds) first_pass.history.KeepRegions();
  first_pass.history.Finish();
  if (const auto machine = RecordedMachine(reader); unwinds && machine) {
    first_pass.jit.ReadRules(first_pass.history, *machine);
  }
}

}  // namespace

FirstPass RunFirstPass(const perfdata::Reader& reader, const ImportOptions& options,
                       ImportReport& report) {
  if (std::optional<FirstPass> first_pass = RunFirstPassInRanges(reader, options, report)) {
    return *std::move(first_pass);
  }
  FirstPass first_pass;
  if (perfdata::SampleCompletion::IsNeeded(reader.events())) {
    first_pass.completion = std::make_unique<perfdata::SampleCompletion>(reader);
  }
  ScanInOrder(reader, options, first_pass, report);
  FinishFirstPass(reader, options, first_pass, report);
  return first_pass;
}

std::optional<FirstPass> RunFirstPassInRanges(const perfdata::Reader& reader,
                                              const ImportOptions& options, ImportReport& report) {
  if (perfdata::SampleCompletion::IsNeeded(reader.events())) return {};
  const auto starts = perfdata::GuessRangeStarts(reader, WantedRanges(options));
  if (starts.size() < 2) return {};
  std::vector<ScannedRange> ranges(starts.size(), ScannedRange(reader.events(), options));
  if (!perfdata::WalkInRanges(reader, starts, options.threads, ranges)) return {};
  FirstPass first_pass;
  ImportReport found = report;
  RecordCollector collector(reader, options, first_pass, found);
  RoundClock clock;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    first_pass.range_starts.push_back({.file_offset = starts[i], .clock = clock});
    first_pass.times.Add(ranges[i].sample_times());
    first_pass.samples += ranges[i].samples();
    if (!ranges[i].Replay(clock, collector)) return {};
  }
  FinishFirstPass(reader, options, first_pass, found);
  report = std::move(found);
  return first_pass;
}

bool NeedTimeOrder(const perfdata::EventTable& events) {
  return std::ranges::any_of(
      events.all(), [](const perfdata::Event& event) { return event.format.Has(perfdata::kRead); });
}

}  // namespace perftape::convert
