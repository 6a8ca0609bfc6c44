// SPDX-License-Identifier: Apache-2.0
#include "convert/import/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "convert/import/turn_clock.h"
#include "formats/perfdata/event_lookup.h"

namespace perftape {
namespace {

using perfdata::RecordType;
using perfdata::RecordView;

bool TakeFeature(const perfdata::Reader& reader, BuildIdsByPath& ids) {
  const auto value = reader.DecodedFeature(perfdata::FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<perfdata::BuildIds>(&*value) : nullptr;
  if (table == nullptr) return false;
  for (const auto& entry : table->entries) ids.try_emplace(entry.filename, entry.build_id.hex());
  return true;
}

// A pipe, and a recording that was killed, have them in the stream, as binaries were first hit.
void TakeBuildId(const RecordView& record, BuildIdsByPath& ids) {
  if (const auto entry = perfdata::Decode<perfdata::HeaderBuildId>(record, {})) {
    ids.try_emplace(std::string(entry->filename), entry->build_id.hex());
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

// The file offset around which a recording is cut; behind its end where that does not pay.
std::uint64_t MiddleOf(const perfdata::Reader& reader) {
  constexpr std::uint64_t kLong = std::uint64_t{32} << 20;
  const bool is_one_file = !reader.is_stream() && reader.further_files() == 0;
  if (!is_one_file || reader.data_size() < kLong) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return reader.data_offset() + reader.data_size() / 2;
}

}  // namespace

Survey MakeSurvey(const perfdata::Reader& reader, const ImportOptions& options,
                  ImportReport& report) {
  Survey survey;
  const bool has_build_ids = TakeFeature(reader, survey.build_ids);
  TurnClock clock;
  const std::uint64_t middle = MiddleOf(reader);
  bool is_compressed = false;
  perfdata::EventLookup lookup(reader.events());
  perfdata::RecordCursor cursor = reader.records();
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    is_compressed |= record.inside >= 0;
    if (record.file_offset >= middle && !survey.middle) {
      survey.middle = Cut{.file_offset = record.file_offset, .clock = clock};
    }
    const perfdata::EventLookup::Answer found = lookup.Of(record);
    const Turn turn = clock.Of(record, found.time);
    if (record.type == RecordType::kSample) {
      if (found.time != 0) survey.times.Add(found.time);
      continue;
    }
    // All events lay their trailers out alike, so what a process did is known whoever heard of it.
    const perfdata::Event& event = found.event == nullptr ? reader.events()[0] : *found.event;
    if (ProcessHistory::Takes(record.type)) {
      survey.history.Take(record, event.format, turn);
      if (options.find_jit_dump) survey.jit.Meet(record, event.format);
    } else if (record.type == RecordType::kLost || record.type == RecordType::kLostSamples) {
      CountLoss(record, event.format, report);
    } else if (record.type == RecordType::kHeaderBuildId && !has_build_ids) {
      TakeBuildId(record, survey.build_ids);
    } else if (record.type == RecordType::kEventUpdate) {
      TakeUnit(record, survey.units);
    } else if (!perfdata::IsKnown(record.type)) {
      ++report.unknown_records;
    }
  }
  if (std::optional<Error> failure = cursor.TakeFailure()) {
    ++report.damaged_records;
    report.problems.push_back(std::move(failure)->message);
  }
  if (clock.out_of_order() > 0) {
    report.problems.push_back(
        fmt::format("{} records came later than their round promised", clock.out_of_order()));
  }
  if (is_compressed) survey.middle.reset();
  survey.jit.TellOf(reader.events(), options.find_jit_dump, survey.history, report);
  survey.history.Finish();
  return survey;
}

}  // namespace perftape
