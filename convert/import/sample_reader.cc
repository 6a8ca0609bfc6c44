// SPDX-License-Identifier: Apache-2.0
#include "convert/import/sample_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convert/import/process_history.h"
#include "convert/import/time_window.h"
#include "convert/import/turn_clock.h"
#include "convert/model/saturating.h"
#include "formats/base/parallel.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/deliveries.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/plain_sample.h"
#include "formats/perfdata/record_ranges.h"
#include "formats/perfdata/rounds.h"

namespace perftape::convert {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

// Reads the samples of a recording, or of a part of it.
class SampleReader {
 public:
  SampleReader(const perfdata::Reader& reader, const ImportOptions& options, const Survey& survey);

  // From now on, tells of each SAMPLE record in which row it is.
  void Tell(std::vector<std::uint32_t>& rows_of_records) { rows_of_records_ = &rows_of_records; }

  // All samples in time order.
  void RunInTimeOrder();
  // The samples from the cursor on, where the clock is, to a place in the file.
  void RunInFileOrder(perfdata::RecordCursor cursor, TurnClock clock, std::uint64_t end);

  SampleSet& samples() { return samples_; }
  const ImportReport& report() const { return report_; }
  // Of the first sample that was skipped; the largest number where none was.
  std::uint64_t first_skipped_offset() const { return first_skipped_offset_; }

 private:
  // The state of a thread that had a sample lately.
  struct Recent {
    std::uint32_t pid = 0, tid = 0;
    ThreadState state;
    std::uint32_t thread = 0;  // in the table
  };
  static constexpr std::size_t kRecent = 256;

  void Read(const RecordView& record, const perfdata::Event* event, Moment moment);
  void Take(const RecordView& record, const perfdata::Sample& sample, const perfdata::Event& event,
            Moment moment);
  const Recent& StateOf(std::uint32_t pid, std::uint32_t tid, Moment moment);
  std::uint32_t KindOf(const perfdata::Sample& sample, const perfdata::SampleFormat& format,
                       const perfdata::Event& event);
  void Skip(const RecordView& sample);

  const perfdata::Reader& reader_;
  const ImportOptions& options_;
  const Survey& survey_;
  ImportReport report_;
  std::uint64_t first_skipped_offset_ = kToTheEnd;
  perfdata::Deliveries deliveries_;
  std::optional<TimeWindow> window_;
  std::vector<perfdata::PlainSampleReader> plain_;  // of each event
  perfdata::Sample plain_sample_;                   // what they read
  SampleSet samples_;
  std::vector<std::uint32_t>* rows_of_records_ = nullptr;  // where they are asked for
  std::vector<std::uint32_t> plain_kinds_;                 // of each event, without labels
  std::array<Recent, kRecent> recent_ = {};
};

SampleReader::SampleReader(const perfdata::Reader& reader, const ImportOptions& options,
                           const Survey& survey)
    : reader_(reader), options_(options), survey_(survey), deliveries_(reader.events()) {
  const TimeSpan& times = survey.times;
  if (options.time && !times.is_empty()) {
    window_ =
        Resolve(*options.time, {.first = ToSigned(times.first), .last = ToSigned(times.last)});
  }
  for (const perfdata::Event& event : reader.events().all()) plain_.emplace_back(event.format);
  plain_kinds_.resize(reader.events().size(), IdTable::kNone);
}

void SampleReader::RunInFileOrder(perfdata::RecordCursor cursor, TurnClock clock,
                                  std::uint64_t end) {
  Moment moment = 0;
  perfdata::EventLookup lookup(reader_.events());
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    if (record.file_offset >= end) break;
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    const Turn turn = clock.Of(record, found.time);
    if (record.type != RecordType::kSample) continue;
    moment = survey_.history.MomentOf(turn, moment);
    Read(record, found.event, moment);
  }
  samples_.table.Flush();
}

void SampleReader::RunInTimeOrder() {
  Moment moment = 0;
  perfdata::InTimeOrder cursor(reader_.records(), reader_.events());
  perfdata::EventLookup lookup(reader_.events());
  while (cursor.Step()) {
    if (cursor.record().type == RecordType::kSample) {
      moment = survey_.history.PassCode(moment, lookup.Of(cursor.record()).time);
      Read(cursor.record(), cursor.event(), moment);
    } else if (ProcessHistory::Takes(cursor.record().type)) {
      moment = survey_.history.PassRecord(moment);
    }
  }
  if (cursor.out_of_order() > 0) {
    report_.problems.push_back(fmt::format(
        "{} of the records came too late for their round, the first at {}: counters read "
        "with samples may count for other samples",
        cursor.out_of_order(), cursor.first_out_of_order()));
  }
  samples_.table.Flush();
}

void SampleReader::Read(const RecordView& record, const perfdata::Event* event, Moment moment) {
  if (rows_of_records_ != nullptr) rows_of_records_->push_back(kNoRow);
  if (event == nullptr) {
    Skip(record);
    ++report_.unknown_events;
    return;
  }
  const perfdata::PlainSampleReader& plain = plain_[reader_.events().IndexOf(*event)];
  if (plain.is_plain()) {
    if (plain.Read(record, plain_sample_)) return Take(record, plain_sample_, *event, moment);
  } else if (const auto sample = perfdata::DecodeSample(record, event->format)) {
    return Take(record, *sample, *event, moment);
  }
  Skip(record);
  ++report_.damaged_records;
}

void SampleReader::Take(const RecordView& record, const perfdata::Sample& sample,
                        const perfdata::Event& event, Moment moment) {
  const std::span<const perfdata::Delivery> deliveries = deliveries_.Of(sample, event);
  if (sample.time != 0) {
    if (window_ && !window_->Has(ToSigned(sample.time))) {
      report_.outside_time += deliveries.size();
      return;
    }
    samples_.times.Add(sample.time);
  }
  if (deliveries.empty()) return;
  const Recent& state = StateOf(sample.pid, sample.tid, moment);
  const RawStack stack{
      .ip = sample.ip,
      .chain = sample.callchain.bytes(),
      .branches = perfdata::HasBranchCallStack(event.format) ? sample.branches.bytes() : Bytes(),
      .pid = sample.pid,
      .moment = moment,
      .mode = record.cpumode()};
  SampleTable::Addition addition{
      .hash = SampleTable::HashOf(stack, state.state), .thread = state.thread, .stack = stack};
  for (const perfdata::Delivery& delivery : deliveries) {
    ++report_.samples;
    addition.kind = KindOf(sample, event.format, *delivery.event);
    addition.period = delivery.period;
    if (rows_of_records_ != nullptr) {
      const std::uint32_t row = samples_.table.AddShort(addition);
      std::uint32_t& told = rows_of_records_->back();
      if (told == kNoRow || delivery.event == &event) told = row;
    } else if (record.is_lasting) {
      samples_.table.AddLasting(addition);
    } else {
      samples_.table.AddShort(addition);
    }
  }
}

const SampleReader::Recent& SampleReader::StateOf(std::uint32_t pid, std::uint32_t tid,
                                                  Moment moment) {
  Recent& recent = recent_[tid % kRecent];
  if (recent.pid != pid || recent.tid != tid || moment < recent.state.from ||
      moment >= recent.state.to) {
    const ThreadState state = survey_.history.StateOf(pid, tid, moment);
    recent = {.pid = pid,
              .tid = tid,
              .state = state,
              .thread = samples_.table.Add(RawThread{.pid = pid, .tid = tid, .comm = state.comm})};
  }
  return recent;
}

std::uint32_t SampleReader::KindOf(const perfdata::Sample& sample,
                                   const perfdata::SampleFormat& format,
                                   const perfdata::Event& event) {
  const std::size_t index = reader_.events().IndexOf(event);
  RawKind kind{.event = static_cast<std::uint32_t>(index)};
  if (!options_.cpu_label && !options_.cgroup_label) {
    std::uint32_t& plain = plain_kinds_[index];
    if (plain == IdTable::kNone) plain = samples_.table.Add(kind);
    return plain;
  }
  if (options_.cpu_label && format.Has(perfdata::kCpu)) kind.cpu = sample.cpu;
  if (options_.cgroup_label && format.Has(perfdata::kSampleCgroup)) kind.cgroup = sample.cgroup;
  return samples_.table.Add(kind);
}

void SampleReader::Skip(const RecordView& sample) {
  if (report_.skipped_samples++ > 0) return;
  report_.first_skipped = perfdata::PositionOf(sample);
  first_skipped_offset_ = sample.file_offset;
}

// Counts in `report` what a reader left out.
void AddUp(const ImportReport& part, ImportReport& report) {
  if (report.skipped_samples == 0) report.first_skipped = part.first_skipped;
  report.samples += part.samples;
  report.skipped_samples += part.skipped_samples;
  report.unknown_events += part.unknown_events;
  report.damaged_records += part.damaged_records;
  report.outside_time += part.outside_time;
  report.problems.insert(report.problems.end(), part.problems.begin(), part.problems.end());
}

// More would wait for the same memory, and each needs a table with most of the stacks.
constexpr unsigned kMostReaders = 4;

// All cuts at once, which are in the order of the file.
SampleSet ReadCuts(const perfdata::Reader& reader, const ImportOptions& options,
                   const Survey& survey, ImportReport& report) {
  const std::size_t threads =
      std::min<std::size_t>({options.threads, kMostReaders, survey.cuts.size()});
  std::vector<std::unique_ptr<SampleReader>> readers;
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
    readers.push_back(std::make_unique<SampleReader>(reader, options, survey));
  }
  const auto read = [&](std::size_t cut, unsigned worker) {
    const std::uint64_t end =
        cut + 1 < survey.cuts.size() ? survey.cuts[cut + 1].file_offset : kToTheEnd;
    const Cut& from = survey.cuts[cut];
    readers[worker]->RunInFileOrder(
        cut == 0 ? reader.records() : reader.records_from(from.file_offset), from.clock, end);
  };
  ParallelFor(survey.cuts.size(), static_cast<unsigned>(readers.size()), read);
  std::ranges::sort(readers, {}, [](const auto& its) { return its->first_skipped_offset(); });
  SampleSet& samples = readers.front()->samples();
  AddUp(readers.front()->report(), report);
  for (std::size_t i = 1; i < readers.size(); ++i) {
    samples.table.AddAll(readers[i]->samples().table);
    samples.times.Add(readers[i]->samples().times);
    AddUp(readers[i]->report(), report);
  }
  return std::move(samples);
}

}  // namespace

SampleSet ReadSamples(const perfdata::Reader& reader, const ImportOptions& options,
                      const Survey& survey, ImportReport& report) {
  SampleSet samples;
  if (NeedTimeOrder(reader.events())) {
    SampleReader only(reader, options, survey);
    only.RunInTimeOrder();
    AddUp(only.report(), report);
    samples = std::move(only.samples());
  } else {
    samples = ReadCuts(reader, options, survey, report);
  }
  samples.table.Close();
  return samples;
}

SampleSet ReadSamplesByRecord(const perfdata::Reader& reader, const ImportOptions& options,
                              const Survey& survey, ImportReport& report,
                              std::vector<std::uint32_t>& rows_of_records) {
  SampleReader only(reader, options, survey);
  only.Tell(rows_of_records);
  only.RunInFileOrder(reader.records(), {}, kToTheEnd);
  AddUp(only.report(), report);
  only.samples().table.Close();
  return std::move(only.samples());
}

}  // namespace perftape::convert
