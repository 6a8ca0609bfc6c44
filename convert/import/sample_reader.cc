// SPDX-License-Identifier: Apache-2.0
#include "convert/import/sample_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "convert/import/field_labels.h"
#include "convert/import/process_history.h"
#include "convert/import/round_clock.h"
#include "convert/import/stack_copies.h"
#include "convert/import/time_window.h"
#include "convert/model/saturating.h"
#include "formats/base/parallel.h"
#include "formats/base/progress.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/plain_sample.h"
#include "formats/perfdata/record_ranges.h"
#include "formats/perfdata/rounds.h"

namespace perftape::convert {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

// What the unwinders of a recording share.
struct Unwinding {
  // Nothing if stacks are not unwound.
  static std::optional<Unwinding> Of(const perfdata::Reader& reader, const ImportOptions& options) {
    if (!UnwindsStacks(reader, options)) return std::nullopt;
    return Unwinding{.tables = std::make_unique<offline_unwind::BinaryTables>(options.find_binary,
                                                                              options.index_cache),
                     .locations = std::make_unique<offline_unwind::PackedLocations>()};
  }

  std::unique_ptr<offline_unwind::BinaryTables> tables;
  std::unique_ptr<offline_unwind::PackedLocations> locations;
};

// Reads the samples of a recording, or of a range of it.
class SampleReader {
 public:
  SampleReader(const perfdata::Reader& reader, const ImportOptions& options,
               const FirstPass& first_pass, const std::optional<Unwinding>& unwinding);

  // From now on, appends the row of each SAMPLE record to `rows`.
  void RecordRows(std::vector<std::uint32_t>& rows) { rows_of_records_ = &rows; }

  // Reads all samples in time order.
  void RunInTimeOrder();
  // Reads the samples from the cursor's record, which is at `from`, up to the file offset `end`.
  void RunInFileOrder(perfdata::RecordCursor cursor, const RangeStart& from, std::uint64_t end);

  SampleSet& samples() { return samples_; }
  // Makes the parts of times at least as long, which are a power of two of those at first.
  void LengthenTimeParts(std::uint64_t step);
  // Makes them longer until ImportOptions::most_exact_times rows are enough.
  void LimitTimes();
  ImportReport report() const {
    ImportReport report = report_;
    if (unwinder_) report.unwound = unwinder_->report();
    return report;
  }
  // Of the first skipped sample; the largest number if there is none.
  std::uint64_t first_skipped_offset() const { return first_skipped_offset_; }

 private:
  // The state of a thread: of the last sampled thread with this tid % kThreadCacheSize.
  struct ThreadCacheEntry {
    std::uint32_t pid = 0, tid = 0;
    ThreadState state;
    std::uint32_t thread = 0;  // index in the table
  };
  static constexpr std::size_t kThreadCacheSize = 256;

  void Read(const RecordView& record, const perfdata::Event* event, Epoch epoch);
  void CountCompleted(const RecordView& record, const perfdata::Sample& sample,
                      const perfdata::Event& event, Epoch epoch);
  void Count(const RecordView& record, const perfdata::Sample& sample, const perfdata::Event& event,
             Epoch epoch);
  // Replaces the callchain by the one that is made from the copied registers and stack. Returns
  // whether it did.
  bool Unwind(const RecordView& record, const perfdata::Sample& sample,
              const perfdata::Event& event, const ThreadCacheEntry& state, RawStack& stack);
  const ThreadCacheEntry& StateOf(std::uint32_t pid, std::uint32_t tid, Epoch epoch);
  // Returns the labels of `sample`, a record of `event` that counts for `counted`.
  std::uint32_t EventLabelsOf(const perfdata::Sample& sample, const perfdata::Event& event,
                              const perfdata::Event& counted, Epoch epoch);
  bool IsInWindow(const perfdata::Sample& sample, const perfdata::Event& event) const;
  void Skip(const RecordView& sample);
  // Counts the samples in the batch.
  void CountBatch();
  // Returns the time since the first sample of the recording. kNoTime for a sample without a time.
  std::uint32_t MillisecondsOf(std::uint64_t time) const;

  const perfdata::Reader& reader_;
  const ImportOptions& options_;
  const FirstPass& first_pass_;
  ImportReport report_;
  std::uint64_t first_skipped_offset_ = kToTheEnd;
  perfdata::Deliveries deliveries_;
  FieldReader fields_;
  std::optional<offline_unwind::SampleUnwinder> unwinder_;  // if stacks are unwound
  std::vector<perfdata::PlainSampleReader> plain_;          // by event
  std::vector<bool> wakes_;                                 // by event: HasWokenThread
  std::vector<bool> waits_;                                 // by event: its samples are waits
  std::vector<bool> wanted_;                                // by event: ImportOptions::wants_event
  perfdata::Sample plain_sample_;                           // the sample that they decode
  std::vector<std::byte> completed_chain_;                  // of the last completed sample
  SampleSet samples_;
  TimeParts time_parts_;                      // of labels
  std::vector<SampleTable::Addition> batch_;  // samples of lasting records, not in the table yet
  std::vector<std::uint32_t>* rows_of_records_ = nullptr;  // null unless rows are requested
  std::vector<std::uint32_t> last_labels_;                 // by event, of the last sample
  std::array<ThreadCacheEntry, kThreadCacheSize> thread_cache_ = {};
};

SampleReader::SampleReader(const perfdata::Reader& reader, const ImportOptions& options,
                           const FirstPass& first_pass, const std::optional<Unwinding>& unwinding)
    : reader_(reader),
      options_(options),
      first_pass_(first_pass),
      deliveries_(reader.events()),
      fields_(reader.events(), options.field_labels, reader.text(perfdata::FeatureBit::kArch)) {
  const TimeSpan& times = first_pass.times;
  time_parts_ = {.first = times.first, .last = times.last, .step = first_pass.time_step_ns};
  samples_.time_step_ns = first_pass.time_step_ns;
  if (options.time && !times.is_empty()) {
    const TimeWindow recording = {.first = ToSigned(times.first), .last = ToSigned(times.last)};
    const TimeWindow asked = Resolve(*options.time, recording);
    report_.window = {.first = std::max(asked.first, recording.first),
                      .last = std::min(asked.last, recording.last)};
  }
  if (options.histogram_bins != 0 && !times.is_empty()) {
    report_.histogram = {.first_ns = times.first,
                         .last_ns = times.last,
                         .samples = std::vector<std::uint64_t>(options.histogram_bins)};
  }
  for (const perfdata::Event& event : reader.events().all()) {
    plain_.emplace_back(event.format);
    wanted_.push_back(!options.wants_event || options.wants_event(event.name));
    wakes_.push_back(perfdata::HasWokenThread(event.attr, event.name));
    waits_.push_back(perfdata::PeriodMeaningOf(event.name) == perfdata::PeriodMeaning::kWait);
  }
  if (unwinding) {
    // Compiled code is found by address and time.
    offline_unwind::PackedLocations* locations =
        first_pass.jit.dumps().empty() ? unwinding->locations.get() : nullptr;
    unwinder_.emplace(MakeUnwinder(reader, options, first_pass, *unwinding->tables, locations));
  }
  last_labels_.resize(reader.events().size(), IdTable::kNone);
}

// Prefetches the record behind a sample, which is probably as large. A walk reads few of the words
// of a stack, and would wait for the memory of each.
void PrefetchBehind(Bytes sample) {
  constexpr std::size_t kCacheLine = 64;
  const std::byte* const next = sample.data() + sample.size();
  for (std::size_t at = 0; at < sample.size(); at += kCacheLine) __builtin_prefetch(next + at);
}

void SampleReader::RunInFileOrder(perfdata::RecordCursor cursor, const RangeStart& from,
                                  std::uint64_t end) {
  Epoch epoch = 0;
  RoundClock clock = from.clock;
  ProgressMeter progress(from.file_offset, report_.samples);
  perfdata::EventLookup lookup(reader_.events());
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    if (record.file_offset >= end) break;
    progress.MoveTo(record.file_offset, report_.samples);
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    const SortKey key = clock.KeyOf(record, first_pass_.TimeOf(found.time));
    if (record.type != RecordType::kSample) continue;
    epoch = first_pass_.history.EpochOf(key, epoch);
    if (unwinder_) PrefetchBehind(record.payload);
    Read(record, found.event, epoch);
  }
  progress.Finish(cursor.record().file_offset, report_.samples);
  CountBatch();
}

void SampleReader::RunInTimeOrder() {
  Epoch epoch = 0;
  perfdata::InTimeOrder cursor(reader_.records(), reader_.events());
  perfdata::EventLookup lookup(reader_.events());
  ProgressMeter progress(reader_.data_offset());
  while (cursor.Step()) {
    progress.MoveTo(cursor.record().file_offset, report_.samples);
    if (cursor.record().type == RecordType::kSample) {
      const std::uint64_t time = first_pass_.TimeOf(lookup.Of(cursor.record()).time);
      epoch = first_pass_.history.EpochAfterCode(epoch, time);
      Read(cursor.record(), cursor.event(), epoch);
    } else if (ProcessHistory::IsProcessRecord(cursor.record().type)) {
      epoch = first_pass_.history.EpochAfterRecord(epoch);
    }
  }
  progress.Finish(reader_.data_offset() + reader_.data_size(), report_.samples);
  if (cursor.out_of_order() > 0) {
    report_.problems.push_back(fmt::format(
        "{} of the records came too late for their round, the first at {}: counters read "
        "with samples may count for other samples",
        cursor.out_of_order(), cursor.first_out_of_order()));
  }
  CountBatch();
}

void SampleReader::Read(const RecordView& record, const perfdata::Event* event, Epoch epoch) {
  if (rows_of_records_ != nullptr) rows_of_records_->push_back(kNoRow);
  if (event == nullptr) {
    Skip(record);
    ++report_.unknown_events;
    return;
  }
  const std::size_t index = reader_.events().IndexOf(*event);
  if (!wanted_[index]) return;
  const perfdata::PlainSampleReader& plain = plain_[index];
  if (plain.is_plain()) {
    if (plain.Read(record, plain_sample_)) {
      return CountCompleted(record, plain_sample_, *event, epoch);
    }
  } else if (const auto sample = perfdata::DecodeSample(record, event->format)) {
    return CountCompleted(record, *sample, *event, epoch);
  }
  Skip(record);
  ++report_.damaged_records;
}

// Returns whether the sample's ip is the leaf of its stack, and not the first address of its
// callchain. With PEBS and IBS the hardware records the ip. The callchain begins some instructions
// later, where the kernel was interrupted: since Linux 4.20 it is made from the registers of the
// interrupt (commit b8000586c90b), before that a user chain was too. perf report counts the ip
// (builtin-report.c, process_sample_event), and so does perf_data_converter.
bool IsPreciseLeaf(const RecordView& record, const perfdata::Sample& sample,
                   const perfdata::Event& event) {
  const bool is_precise = (event.attr.flags >> perfdata::kPreciseIpShift & 3) != 0 ||
                          (record.misc & perfdata::kMiscExactIp) != 0;
  if (!is_precise || sample.ip == 0 || !event.format.Has(perfdata::kIp)) return false;
  for (const std::uint64_t entry : sample.callchain) {
    if (entry < perfdata::kContextMax) return entry != sample.ip;
  }
  return false;
}

void SampleReader::CountCompleted(const RecordView& record, const perfdata::Sample& sample,
                                  const perfdata::Event& event, Epoch epoch) {
  if (first_pass_.completion == nullptr || !first_pass_.completion->Changes(event)) {
    return Count(record, sample, event, epoch);
  }
  RecordView completed_record = record;
  perfdata::Sample completed = sample;
  const auto outcome =
      first_pass_.completion->Complete(completed_record, event, completed, completed_chain_);
  const std::uint64_t samples = report_.samples;
  Count(completed_record, completed, event, epoch);
  if (outcome == perfdata::SampleCompletion::Outcome::kWithoutUserFrames) {
    report_.without_user_frames += report_.samples - samples;
  }
}

// The recorder writes the sums of short waits about once a second (bpf/off_cpu.bpf.c). They have no
// callchain.
constexpr std::int64_t kAroundNs = 2'000'000'000;

bool SampleReader::IsInWindow(const perfdata::Sample& sample, const perfdata::Event& event) const {
  const TimeWindow& window = *report_.window;
  const std::int64_t time = ToSigned(sample.time);
  if (window.Has(time)) return true;
  if (!options_.waits_around_time || !waits_[reader_.events().IndexOf(event)]) return false;
  if (sample.callchain.empty()) {
    return SubtractUpToLimit(window.first, kAroundNs) <= time &&
           time <= AddUpToLimit(window.last, kAroundNs);
  }
  return time > window.last && SubtractUpToLimit(time, ToSigned(sample.period)) <= window.last;
}

void SampleReader::Count(const RecordView& record, const perfdata::Sample& sample,
                         const perfdata::Event& event, Epoch epoch) {
  const std::span<const perfdata::Delivery> deliveries = deliveries_.Of(sample, event);
  if (sample.time != 0) {
    if (report_.window && !IsInWindow(sample, event)) {
      report_.outside_time += deliveries.size();
      return;
    }
    samples_.times.Add(sample.time);
    report_.histogram.Add(sample.time, deliveries.size());
  }
  if (deliveries.empty()) return;
  const ThreadCacheEntry& state = StateOf(sample.pid, sample.tid, epoch);
  RawStack stack{
      .ip = sample.ip,
      .chain = sample.callchain.bytes(),
      .branches = perfdata::HasBranchCallStack(event.format) ? sample.branches.bytes() : Bytes(),
      .pid = sample.pid,
      .epoch = epoch,
      .mode = record.cpumode(),
      .is_precise = IsPreciseLeaf(record, sample, event)};
  const bool is_unwound = Unwind(record, sample, event, state, stack);
  // The words of a new callchain live until the next one is made.
  const bool is_lasting = record.is_lasting && (!is_unwound || stack.chain.empty());
  SampleTable::Addition addition{
      .hash = SampleTable::HashOf(stack, state.state),
      .thread = state.thread,
      .stack = stack,
      .first_ms = options_.first_times ? MillisecondsOf(sample.time) : Sample::kNoTime};
  for (const perfdata::Delivery& delivery : deliveries) {
    ++report_.samples;
    addition.event_labels = EventLabelsOf(sample, event, *delivery.event, epoch);
    addition.period = delivery.period;
    if (rows_of_records_ != nullptr) {
      const std::uint32_t row = samples_.table.Add(addition);
      std::uint32_t& row_of_record = rows_of_records_->back();
      if (row_of_record == kNoRow || delivery.event == &event) row_of_record = row;
    } else if (is_lasting) {
      batch_.push_back(addition);
      if (batch_.size() == SampleTable::kBatch) CountBatch();
    } else {
      samples_.table.Add(addition);
      LimitTimes();
    }
  }
}

bool SampleReader::Unwind(const RecordView& record, const perfdata::Sample& sample,
                          const perfdata::Event& event, const ThreadCacheEntry& state,
                          RawStack& stack) {
  if (!unwinder_ || !offline_unwind::HasStackCopies(event.format)) return false;
  const auto chain = unwinder_->Unwind(
      sample, event.format, record.cpumode(),
      {.pid = stack.pid, .epoch = stack.epoch, .fingerprint = state.state.spaces.user});
  if (!chain) return false;
  // The user's registers are those at the sample's ip.
  stack.is_precise = stack.is_precise && chain->kernel_words != 0;
  if (chain->locations.empty()) {
    stack.chain = std::as_bytes(chain->words);
    stack.is_cut = chain->is_cut;
    return true;
  }
  stack.chain = std::as_bytes(chain->words.first(chain->kernel_words));
  stack.unwound = samples_.table.unwound().Add(
      chain->locations, chain->is_cut ? UnwoundStacks::kCut : UnwoundStacks::kWhole);
  if (!stack.is_precise) stack.ip = 0;  // one of the frames is that address
  return true;
}

const SampleReader::ThreadCacheEntry& SampleReader::StateOf(std::uint32_t pid, std::uint32_t tid,
                                                            Epoch epoch) {
  ThreadCacheEntry& entry = thread_cache_[tid % kThreadCacheSize];
  if (entry.pid != pid || entry.tid != tid || epoch < entry.state.from || epoch >= entry.state.to) {
    const ThreadState state = first_pass_.history.StateOf(pid, tid, epoch);
    entry = {.pid = pid,
             .tid = tid,
             .state = state,
             .thread = samples_.table.Add(RawThread{.pid = pid, .tid = tid, .comm = state.comm})};
  }
  return entry;
}

std::uint32_t SampleReader::EventLabelsOf(const perfdata::Sample& sample,
                                          const perfdata::Event& event,
                                          const perfdata::Event& counted, Epoch epoch) {
  const std::size_t index = reader_.events().IndexOf(counted);
  EventLabels labels{.event = static_cast<std::uint32_t>(index)};
  std::uint32_t& last = last_labels_[index];
  const bool has_cgroup = options_.cgroup_label || options_.container_labels;
  const bool has_labels = options_.cpu_label || has_cgroup || options_.time_label ||
                          wakes_[index] || !first_pass_.services.is_empty();
  if (!has_labels && fields_.reads_nothing()) {
    if (last == IdTable::kNone) last = samples_.table.Add(labels);
    return last;
  }
  const perfdata::SampleFormat& format = event.format;
  if (options_.cpu_label && format.Has(perfdata::kCpu)) labels.cpu = sample.cpu;
  if (has_cgroup && format.Has(perfdata::kSampleCgroup)) labels.cgroup = sample.cgroup;
  // perf record --off-cpu writes sums over the recording, with a time of all ones in the upper half
  // (OFF_CPU_TIMESTAMP, tools/perf/util/off_cpu.h).
  constexpr std::uint64_t kMostTime = std::numeric_limits<std::int64_t>::max();
  if (options_.time_label && sample.time <= kMostTime)
    labels.time_ns = time_parts_.EndOfPart(sample.time);
  labels.service = first_pass_.services.Find(sample.pid, sample.time);
  if (wakes_[index]) {
    labels.woken.tid = static_cast<std::uint32_t>(sample.addr);
    labels.woken.comm = first_pass_.history.CommOf(labels.woken.tid, epoch);
  }
  if (!fields_.reads_nothing()) {
    const std::size_t of_record = reader_.events().IndexOf(event);
    labels.fields = samples_.table.AddFields(fields_.Read(of_record, sample.raw));
  }
  // Samples that follow each other are often in one part of the time.
  if (last == IdTable::kNone || samples_.table.event_labels()[last] != labels) {
    last = samples_.table.Add(labels);
  }
  return last;
}

std::uint32_t SampleReader::MillisecondsOf(std::uint64_t time) const {
  constexpr std::uint64_t kMost = Sample::kNoTime - 1;
  if (time == 0 || first_pass_.times.is_empty()) return Sample::kNoTime;
  const std::uint64_t first = std::min(first_pass_.times.first, time);
  return static_cast<std::uint32_t>(std::min((time - first) / 1'000'000, kMost));
}

void SampleReader::CountBatch() {
  samples_.table.AddBatch(batch_);
  batch_.clear();
  LimitTimes();
}

void SampleReader::LengthenTimeParts(std::uint64_t step) {
  if (step <= time_parts_.step) return;
  // It has indexes of labels.
  samples_.table.AddBatch(batch_);
  batch_.clear();
  samples_.time_step_ns = time_parts_.step = step;
  samples_.table.RoundTimes(time_parts_);
  std::ranges::fill(last_labels_, IdTable::kNone);
}

// A part of the samples needs no longer parts of times than all samples. So the length at last does
// not depend on which reader reads what.
void SampleReader::LimitTimes() {
  const std::uint64_t length = time_parts_.last - time_parts_.first;
  while (time_parts_.step != 0 && time_parts_.step < length &&
         samples_.table.rows().size() > options_.most_exact_times) {
    LengthenTimeParts(2 * time_parts_.step);
  }
}

void SampleReader::Skip(const RecordView& sample) {
  if (report_.skipped_samples++ > 0) return;
  report_.first_skipped = perfdata::PositionOf(sample);
  first_skipped_offset_ = sample.file_offset;
}

// Adds the counts of a reader to `report`.
void AddUp(const ImportReport& part, ImportReport& report) {
  if (report.histogram.samples.empty()) {
    report.histogram = part.histogram;
  } else {
    std::ranges::transform(part.histogram.samples, report.histogram.samples,
                           report.histogram.samples.begin(), std::plus());
  }
  report.window = part.window;
  if (report.skipped_samples == 0) report.first_skipped = part.first_skipped;
  report.samples += part.samples;
  report.skipped_samples += part.skipped_samples;
  report.unknown_events += part.unknown_events;
  report.damaged_records += part.damaged_records;
  report.outside_time += part.outside_time;
  report.without_user_frames += part.without_user_frames;
  report.unwound.AddCounts(part.unwound);
  report.problems.insert(report.problems.end(), part.problems.begin(), part.problems.end());
}

// Call it when all stacks are unwound.
void EndUnwinding(const std::optional<Unwinding>& unwinding, const ImportOptions& options) {
  if (unwinding && options.found_binaries) options.found_binaries();
}

// More readers would compete for the same memory, and each needs a table with most of the stacks.
constexpr unsigned kMostReaders = 4;

// Reads the ranges of the file, several at once.
SampleSet ReadRanges(const perfdata::Reader& reader, const ImportOptions& options,
                     const FirstPass& first_pass, const std::optional<Unwinding>& unwinding,
                     ImportReport& report) {
  const std::size_t threads =
      std::min<std::size_t>({options.threads, kMostReaders, first_pass.range_starts.size()});
  std::vector<std::unique_ptr<SampleReader>> readers;
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
    readers.push_back(std::make_unique<SampleReader>(reader, options, first_pass, unwinding));
  }
  const auto read = [&](std::size_t range, unsigned worker) {
    const std::uint64_t end = range + 1 < first_pass.range_starts.size()
                                  ? first_pass.range_starts[range + 1].file_offset
                                  : kToTheEnd;
    const RangeStart& from = first_pass.range_starts[range];
    readers[worker]->RunInFileOrder(
        range == 0 ? reader.records() : reader.records_from(from.file_offset), from, end);
  };
  ParallelFor(first_pass.range_starts.size(), static_cast<unsigned>(readers.size()), read);
  EndUnwinding(unwinding, options);
  std::ranges::sort(readers, {}, [](const auto& its) { return its->first_skipped_offset(); });
  std::uint64_t longest_step = 0;
  for (const auto& its : readers)
    longest_step = std::max(longest_step, its->samples().time_step_ns);
  for (const auto& its : readers) its->LengthenTimeParts(longest_step);
  SampleSet& samples = readers.front()->samples();
  AddUp(readers.front()->report(), report);
  for (std::size_t i = 1; i < readers.size(); ++i) {
    samples.table.AddAll(readers[i]->samples().table);
    samples.times.Add(readers[i]->samples().times);
    AddUp(readers[i]->report(), report);
  }
  readers.front()->LimitTimes();
  return std::move(samples);
}

// Ends the reading of samples.
SampleSet Finish(SampleSet samples, std::optional<Unwinding> unwinding, ImportReport& report) {
  if (unwinding) {
    report.unwound.missing = unwinding->tables->Missing();
    samples.locations = std::move(unwinding->locations);
  }
  samples.table.Finish();
  return samples;
}

}  // namespace

SampleSet ReadSamples(const perfdata::Reader& reader, const ImportOptions& options,
                      const FirstPass& first_pass, ImportReport& report) {
  std::optional<Unwinding> unwinding = Unwinding::Of(reader, options);
  SampleSet samples;
  if (NeedTimeOrder(reader.events())) {
    SampleReader only(reader, options, first_pass, unwinding);
    only.RunInTimeOrder();
    EndUnwinding(unwinding, options);
    AddUp(only.report(), report);
    samples = std::move(only.samples());
  } else {
    samples = ReadRanges(reader, options, first_pass, unwinding, report);
  }
  return Finish(std::move(samples), std::move(unwinding), report);
}

SampleSet ReadSamplesByRecord(const perfdata::Reader& reader, const ImportOptions& options,
                              const FirstPass& first_pass, ImportReport& report,
                              std::vector<std::uint32_t>& rows_of_records) {
  std::optional<Unwinding> unwinding = Unwinding::Of(reader, options);
  SampleReader only(reader, options, first_pass, unwinding);
  only.RecordRows(rows_of_records);
  only.RunInFileOrder(reader.records(), {.file_offset = reader.data_offset(), .clock = {}},
                      kToTheEnd);
  EndUnwinding(unwinding, options);
  AddUp(only.report(), report);
  return Finish(std::move(only.samples()), std::move(unwinding), report);
}

}  // namespace perftape::convert
