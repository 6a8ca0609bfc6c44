// SPDX-License-Identifier: Apache-2.0
#include "convert/import/survey.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "convert/import/turn_clock.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/record_ranges.h"

namespace perftape::convert {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

bool TakeFeature(const perfdata::Reader& reader, ListedBuildIds& ids) {
  const auto value = reader.DecodedFeature(perfdata::FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<perfdata::BuildIds>(&*value) : nullptr;
  if (table == nullptr) return false;
  for (const auto& entry : table->entries) {
    ids.by_path.try_emplace(entry.filename, entry.build_id.hex());
    ids.kernel_names.Add(entry.mode, entry.filename);
  }
  return true;
}

// A pipe, and a recording that was killed, have them in the stream, as binaries were first hit.
void TakeBuildId(const RecordView& record, ListedBuildIds& ids) {
  if (const auto entry = perfdata::Decode<perfdata::HeaderBuildId>(record, {})) {
    ids.by_path.try_emplace(std::string(entry->filename), entry->build_id.hex());
    ids.kernel_names.Add(record.cpumode(), entry->filename);
  }
}

void CountLoss(const RecordView& record, const perfdata::SampleFormat& format,
               ImportReport& report) {
  if (record.type == RecordType::kLost) {
    if (const auto lost = perfdata::Decode<perfdata::Lost>(record, format)) {
      report.lost_records += lost->count;
    }
    return;
  }
  // With this bit they are no loss: a filter of perf's own let them go.
  if ((record.misc & perfdata::kMiscLostSamplesBpf) != 0) return;
  if (const auto lost = perfdata::Decode<perfdata::LostSamples>(record, format)) {
    report.lost_samples += lost->count;
  }
}

// What a survey makes of the records that are no samples.
class Surveyor {
 public:
  Surveyor(const perfdata::Reader& reader, const ImportOptions& options, Survey& survey,
           ImportReport& report)
      : events_(reader.events()),
        options_(options),
        survey_(survey),
        report_(report),
        has_build_ids_(TakeFeature(reader, survey.build_ids)) {}

  // Whether a record has to be shown to Take; of others only their times matter.
  static bool Takes(RecordType type) {
    return ProcessHistory::Takes(type) || type == RecordType::kLost ||
           type == RecordType::kLostSamples || type == RecordType::kHeaderBuildId ||
           type == RecordType::kEventUpdate || !perfdata::IsKnown(type);
  }

  void Take(const RecordView& record, const perfdata::Event* its_event, const Turn& turn) {
    // All events lay their trailers out alike, so what a process did is known whoever heard of it.
    const perfdata::Event& event = its_event == nullptr ? events_[0] : *its_event;
    if (ProcessHistory::Takes(record.type)) {
      survey_.history.Take(record, event.format, turn);
      if (options_.find_jit_dump) survey_.jit.Meet(record, event.format);
    } else if (record.type == RecordType::kLost || record.type == RecordType::kLostSamples) {
      CountLoss(record, event.format, report_);
    } else if (record.type == RecordType::kHeaderBuildId && !has_build_ids_) {
      TakeBuildId(record, survey_.build_ids);
    } else if (record.type == RecordType::kEventUpdate) {
      TakeUnit(record, survey_.units);
    } else if (!perfdata::IsKnown(record.type)) {
      ++report_.unknown_records;
    }
  }

 private:
  const perfdata::EventTable& events_;
  const ImportOptions& options_;
  Survey& survey_;
  ImportReport& report_;
  const bool has_build_ids_;
};

// What one thread has seen of a range of records, to be surveyed behind the ranges before it. In
// cache lines of its own, since other threads write to the next one.
class alignas(128) SurveyedRange {
 public:
  // Records that nobody asks for, and the one behind them.
  struct Stretch {
    std::uint64_t passed = 0;
    TimeSpan times;  // of those passed
    RecordView record;
    perfdata::EventLookup::Answer found;
  };

  explicit SurveyedRange(const perfdata::EventTable& events) : lookup_(events) {}

  void Add(const RecordView& record) {
    const perfdata::EventLookup::Answer found = lookup_.Of(record);
    if (record.type == RecordType::kFinishedRound || Surveyor::Takes(record.type)) {
      stretches_.push_back({last_.passed, last_.times, record, found});
      last_ = {};
      return;
    }
    ++last_.passed;
    if (found.time == 0) return;
    if (record.type == RecordType::kSample) sample_times_.Add(found.time);
    if (found.time != std::numeric_limits<std::uint64_t>::max()) last_.times.Add(found.time);
  }

  // False where a record came later than its round promised: that wants all records' times.
  bool Replay(TurnClock& clock, Surveyor& surveyor) const {
    for (const Stretch& stretch : stretches_) {
      if (!Pass(clock, stretch)) return false;
      surveyor.Take(stretch.record, stretch.found.event,
                    clock.Of(stretch.record, stretch.found.time));
    }
    return Pass(clock, last_) && clock.out_of_order() == 0;
  }
  const TimeSpan& sample_times() const { return sample_times_; }

 private:
  static bool Pass(TurnClock& clock, const Stretch& stretch) {
    return clock.Pass(stretch.passed, stretch.times.first, stretch.times.last);
  }

  perfdata::EventLookup lookup_;
  std::vector<Stretch> stretches_;
  Stretch last_;  // so far without a record behind it
  TimeSpan sample_times_;
};

// More ranges than threads, for those that are held up.
std::size_t WantedRanges(const ImportOptions& options) {
  constexpr std::size_t kForEachThread = 8;
  return options.threads > 1 ? options.threads * kForEachThread : 1;
}

void SurveyInOrder(const perfdata::Reader& reader, const ImportOptions& options, Survey& survey,
                   ImportReport& report) {
  survey.cuts.push_back({.file_offset = reader.data_offset(), .clock = {}});
  Surveyor surveyor(reader, options, survey, report);
  TurnClock clock;
  perfdata::EventLookup lookup(reader.events());
  perfdata::RecordCursor cursor = reader.records();
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    const Turn turn = clock.Of(record, found.time);
    if (record.type != RecordType::kSample) {
      surveyor.Take(record, found.event, turn);
    } else if (found.time != 0) {
      survey.times.Add(found.time);
    }
  }
  if (std::optional<Error> failure = cursor.ReleaseFailure()) {
    ++report.damaged_records;
    report.problems.push_back(std::move(failure)->message);
  }
  report.late_records += clock.out_of_order();
}

void FinishSurvey(const perfdata::Reader& reader, const ImportOptions& options, Survey& survey,
                  ImportReport& report) {
  survey.jit.TellOf(reader.events(), options.find_jit_dump, survey.history, report);
  survey.history.Finish();
}

}  // namespace

Survey MakeSurvey(const perfdata::Reader& reader, const ImportOptions& options,
                  ImportReport& report) {
  if (std::optional<Survey> survey = MakeSurveyInRanges(reader, options, report)) {
    return *std::move(survey);
  }
  Survey survey;
  SurveyInOrder(reader, options, survey, report);
  FinishSurvey(reader, options, survey, report);
  return survey;
}

std::optional<Survey> MakeSurveyInRanges(const perfdata::Reader& reader,
                                         const ImportOptions& options, ImportReport& report) {
  const auto starts = perfdata::GuessRangeStarts(reader, WantedRanges(options));
  if (starts.size() < 2) return {};
  std::vector<SurveyedRange> ranges(starts.size(), SurveyedRange(reader.events()));
  if (!perfdata::WalkInRanges(reader, starts, options.threads, ranges)) return {};
  Survey survey;
  ImportReport found = report;
  Surveyor surveyor(reader, options, survey, found);
  TurnClock clock;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    survey.cuts.push_back({.file_offset = starts[i], .clock = clock});
    survey.times.Add(ranges[i].sample_times());
    if (!ranges[i].Replay(clock, surveyor)) return {};
  }
  FinishSurvey(reader, options, survey, found);
  report = std::move(found);
  return survey;
}

bool NeedTimeOrder(const perfdata::EventTable& events) {
  return std::ranges::any_of(
      events.all(), [](const perfdata::Event& event) { return event.format.Has(perfdata::kRead); });
}

}  // namespace perftape::convert
