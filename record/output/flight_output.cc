// SPDX-License-Identifier: Apache-2.0
// The part of RecordingOutput for flight recordings: records go into memory, and a file is made of
// them on request.
#include <memory>
#include <utility>

#include "formats/perfdata/record.h"
#include "record/machine/monotonic_clock.h"
#include "record/output/flight_buffer.h"
#include "record/output/recording_output.h"

namespace perftape::record {
namespace {

// Returns the build ids as records, so that a file without features has them.
Result<std::vector<std::byte>> EncodeBuildIds(const perfdata::BuildIds& ids) {
  std::vector<std::byte> records;
  for (const perfdata::BuildIdEntry& entry : ids.entries) {
    const perfdata::HeaderBuildId record{.build_id = entry.build_id, .filename = entry.filename};
    const auto misc =
        static_cast<std::uint16_t>(perfdata::MiscOf(entry.mode) | perfdata::kMiscBuildIdSize);
    TRY(perfdata::Encode(record, misc, records));
  }
  return records;
}

}  // namespace

HitKeepers RecordingOutput::Keepers() {
  return bundle_ ? flight_->keepers() : HitKeepers{};
}

Status RecordingOutput::EndFlightRound() {
  TRY(flight_->EndRound(build_ids_.hit(), notes_so_far_(), MonotonicNs()));
  return build_ids_.StartFile(Keepers(), {});
}

void RecordingOutput::SubtractDropped(RecordSummary& summary) const {
  for (const auto& [id, samples] : flight_->dropped_by_id()) {
    const auto event = events_by_id_.find(id);
    if (event != events_by_id_.end() && event->second < summary.events.size()) {
      summary.events[event->second].samples -= samples;
    }
  }
}

Result<FlightDump> RecordingOutput::DumpFlight(const std::filesystem::path& path,
                                               const std::string& trigger) {
  TRY_ASSIGN(FlightContents contents, flight_->Contents());
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
  std::vector<std::string> ignored;  // the file that Open created had the same warnings
  TRY_ASSIGN(RecordingFile file, CreateFile(path, target, ignored));
  perfdata::BuildIds build_ids = build_ids_.BuildIdsOf(contents.hit);
  TRY(file.Append(contents.state));
  TRY_ASSIGN(const std::vector<std::byte> build_id_records, EncodeBuildIds(build_ids));
  TRY(file.Append(build_id_records));
  TRY(file.Commit());

  NotesByFile notes;
  (void)notes.Next(contents.notes_before);
  FlightDump dump{.ended = {.file = std::move(file),
                            .features = {{perfdata::FeatureBit::kBuildId, std::move(build_ids)},
                                         {perfdata::FeatureBit::kSampleTime, contents.sample_time}},
                            .bundle = {},
                            .notes = notes.Next(notes_so_far_()),
                            .samples = contents.samples},
                  .kept_ns = contents.kept_ns,
                  .is_short_of_memory = contents.is_short_of_memory};
  dump.ended.notes.samples = contents.samples;
  dump.ended.notes.trigger = trigger;
  for (const std::shared_ptr<const FlightRound>& round : contents.rounds) {
    dump.ended.rounds.push_back({.records = {round, &round->records}, .samples = round->samples});
  }
  perfdata::SampleId trailer = loss_trailer_;
  trailer.time = contents.sample_time.last_ns;
  dump.ended.encode_lost = [trailer, format = format_](std::uint64_t samples) {
    return EncodeLost(samples, trailer, format);
  };
  if (bundle_) {
    TRY_ASSIGN(RecordingBundle bundle, RecordingBundle::Prepare(options_.output.bundle));
    build_ids_.AddMissing(contents.hit, contents.files);
    bundle.files().AddAllOf(contents.files);
    bundle.jit() = std::move(contents.jit);
    dump.ended.bundle.emplace(std::move(bundle));
  }
  return dump;
}

}  // namespace perftape::record
