// SPDX-License-Identifier: Apache-2.0
#include "convert/import/sample_reader.h"

#include <algorithm>
#include <span>

#include "convert/import/turn_clock.h"
#include "convert/model/saturating.h"
#include "formats/perfdata/callchain.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/rounds.h"

namespace perftape {

using perfdata::RecordType;
using perfdata::RecordView;

SampleReader::SampleReader(const perfdata::Reader& reader, const ImportOptions& options,
                           Survey& survey, ImportReport& report)
    : reader_(reader),
      options_(options),
      survey_(survey),
      report_(report),
      deliveries_(reader.events()) {
  const TimeSpan& times = survey.times;
  if (options.time && !times.is_empty()) {
    window_ =
        Resolve(*options.time, {.first = ToSigned(times.first), .last = ToSigned(times.last)});
  }
  plain_kinds_.resize(reader.events().size(), IdTable::kNone);
}

// Counters grow from one reading to the next.
bool SampleReader::NeedsTimeOrder() const {
  return std::ranges::any_of(reader_.events().all(), [](const perfdata::Event& event) {
    return event.format.Has(perfdata::kRead);
  });
}

void SampleReader::Run() {
  if (NeedsTimeOrder()) {
    RunInTimeOrder();
  } else {
    RunInFileOrder();
  }
  table_.Flush();
  table_.Close();
}

void SampleReader::Run(std::vector<std::uint32_t>& rows_of_records) {
  rows_of_records_ = &rows_of_records;
  RunInFileOrder();
  table_.Close();
}

void SampleReader::RunInFileOrder() {
  TurnClock clock;
  perfdata::EventLookup lookup(reader_.events());
  perfdata::RecordCursor cursor = reader_.records();
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    const Turn turn = clock.Of(record, found.time);
    if (record.type != RecordType::kSample) continue;
    Take(record, found.event, survey_.history.MomentOf(turn));
  }
}

void SampleReader::RunInTimeOrder() {
  Moment moment = 0;
  perfdata::InTimeOrder cursor(reader_.records(), reader_.events());
  while (cursor.Step()) {
    if (cursor.record().type == RecordType::kSample) {
      Take(cursor.record(), cursor.event(), moment);
    } else if (ProcessHistory::Takes(cursor.record().type)) {
      ++moment;
    }
  }
}

void SampleReader::Take(const RecordView& record, const perfdata::Event* event, Moment moment) {
  if (rows_of_records_ != nullptr) rows_of_records_->push_back(kNoRow);
  if (event == nullptr) {
    Skip(record);
    ++report_.unknown_events;
    return;
  }
  const Result<perfdata::Sample> sample = perfdata::DecodeSample(record, event->format);
  if (!sample) {
    Skip(record);
    ++report_.damaged_records;
    return;
  }
  const std::span<const perfdata::Delivery> deliveries = deliveries_.Of(*sample, *event);
  if (sample->time != 0) {
    if (window_ && !window_->Has(ToSigned(sample->time))) {
      report_.outside_time += deliveries.size();
      return;
    }
    times_.Add(sample->time);
  }
  if (deliveries.empty()) return;
  const Recent& state = StateOf(sample->pid, sample->tid, moment);
  const RawStack stack{
      .ip = sample->ip,
      .chain = sample->callchain.bytes(),
      .branches = perfdata::HasBranchCallStack(event->format) ? sample->branches.bytes() : Bytes(),
      .pid = sample->pid,
      .moment = moment,
      .mode = record.cpumode()};
  SampleTable::Addition addition{
      .hash = SampleTable::HashOf(stack, state.state), .thread = state.thread, .stack = stack};
  for (const perfdata::Delivery& delivery : deliveries) {
    ++report_.samples;
    addition.kind = KindOf(*sample, event->format, *delivery.event);
    addition.period = delivery.period;
    if (rows_of_records_ != nullptr) {
      const std::uint32_t row = table_.AddShort(addition);
      std::uint32_t& told = rows_of_records_->back();
      if (told == kNoRow || delivery.event == event) told = row;
    } else if (record.is_lasting) {
      table_.AddLasting(addition);
    } else {
      table_.AddShort(addition);
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
              .thread = table_.Add(RawThread{.pid = pid, .tid = tid, .comm = state.comm})};
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
    if (plain == IdTable::kNone) plain = table_.Add(kind);
    return plain;
  }
  if (options_.cpu_label && format.Has(perfdata::kCpu)) kind.cpu = sample.cpu;
  if (options_.cgroup_label && format.Has(perfdata::kSampleCgroup)) kind.cgroup = sample.cgroup;
  return table_.Add(kind);
}

void SampleReader::Skip(const RecordView& sample) {
  if (report_.skipped_samples++ == 0) report_.first_skipped = perfdata::PlaceOf(sample);
}

}  // namespace perftape
