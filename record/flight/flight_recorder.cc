// SPDX-License-Identifier: Apache-2.0
#include "record/flight/flight_recorder.h"

#include <algorithm>
#include <utility>

#include "formats/perfdata/record.h"
#include "record/output/notes_by_file.h"

namespace perftape::record {
namespace {

constexpr std::size_t kMostFilesInSummary = 64;

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

Result<std::unique_ptr<FlightRecorder>> FlightRecorder::Prepare(const OutputOptions& output,
                                                                const FlightOptions& flight,
                                                                const std::vector<int>& cpus,
                                                                const SignalState& signals,
                                                                Clock& clock) {
  TRY_ASSIGN(TriggerSet triggers, TriggerSet::Open(flight.triggers, cpus));
  TRY_ASSIGN(std::unique_ptr<FileSeries> files,
             FileSeries::Prepare(output, flight.files, signals, clock));
  return std::unique_ptr<FlightRecorder>(
      new FlightRecorder(output, flight, std::move(triggers), std::move(files), clock));
}

FlightRecorder::FlightRecorder(const OutputOptions& output, const FlightOptions& flight,
                               TriggerSet triggers, std::unique_ptr<FileSeries> files, Clock& clock)
    : output_(output),
      flight_(flight),
      clock_(clock),
      cooldown_(static_cast<std::uint64_t>(flight.cooldown.value_or(flight.span).count())),
      triggers_(std::move(triggers)),
      files_(std::move(files)) {
  sums_.span_ns = static_cast<std::uint64_t>(flight.span.count());
}

Result<OutputTarget> FlightRecorder::FirstTarget() {
  first_path_ = files_->PeekPath();
  TRY_ASSIGN(target_, ResolveOutput(first_path_));
  return *target_;
}

Status FlightRecorder::Open(OutputParts& parts, const FileEvents& events, Bytes records,
                            std::vector<std::string>& warnings) {
  parts_ = &parts;
  TRY(triggers_.Bind(events));
  TRY_ASSIGN(const std::optional<RecordingBundle> bundle, parts.files.PrepareBundle(*target_));
  has_bundle_ = bundle.has_value();
  TRY_ASSIGN(const RecordingFile removed,
             parts.files.CreateFile(first_path_, *target_, OldFile::kRefuse, warnings));
  buffer_.emplace(events.format(), FlightLimits{.span_ns = sums_.span_ns, .bytes = flight_.memory},
                  has_bundle_ ? RoomForOpenFiles() : 0, output_.bundle.others);
  TRY(parts.build_ids.StartFile(keepers(), {}));
  std::vector<std::byte> build_ids;  // the initial state has no samples
  TRY(parts.build_ids.Observe(records, build_ids));
  return buffer_->ApplyInitialState(records);
}

Status FlightRecorder::Append(const PassedRecord& record) {
  if (record.view.type == perfdata::RecordType::kSample) triggers_.Observe(record.view);
  buffer_->Add(record.view, record.bytes);
  return buffer_->IsRoundFull() ? EndBufferRound() : Status();
}

Status FlightRecorder::EndBufferRound() {
  TRY(buffer_->EndRound(parts_->build_ids.hit(), parts_->notes_of(Counts()), clock_.MonotonicNs()));
  return parts_->build_ids.StartFile(keepers(), {});
}

Status FlightRecorder::EndRound(std::uint64_t limit_ns, bool is_last) {
  if (!is_last && !buffer_->IsRoundDue(limit_ns)) return {};
  TRY(EndBufferRound());
  parts_->counter.Commit();
  if (parts_->build_ids.HasGrown()) parts_->build_ids.ForgetUnused(buffer_->HitDsos());
  if (is_last) return {};
  if (files_->Collect()) {
    files_->DeleteOldFiles();
  } else {
    files_->DeleteIfDue();
  }
  CheckTriggers();
  return {};
}

OutputCounts FlightRecorder::Counts() const {
  const RecordCounter& counter = parts_->counter;
  OutputCounts counts = {.samples = counter.samples() - buffer_->dropped_samples(),
                         .samples_by_event = counter.samples_by_event(),
                         .sideband_losses = counter.sideband_losses()};
  for (const auto& [id, samples] : buffer_->dropped_by_id()) {
    if (const auto event = counter.EventOf(id)) counts.samples_by_event[*event] -= samples;
  }
  return counts;
}

// While a file is written, its records need their memory still. So there is one such file at a
// time: a trigger is ignored meanwhile, and a request waits.
void FlightRecorder::CheckTriggers() {
  const std::uint64_t now_ns = clock_.MonotonicNs();
  if (files_->ConsumeRequest()) requested_by_ = "SIGUSR2";
  std::optional<TriggerSet::Fired> fired = triggers_.Check(now_ns);
  const bool is_busy = files_->unfinished() > 0;
  std::string cause;
  if (fired && cooldown_.Admits(fired->times, now_ns, is_busy)) {
    cause = std::move(fired->text);
  } else if (!is_busy) {
    cause = requested_by_;
  }
  if (cause.empty()) return;
  requested_by_.clear();
  if (const Status written = Write(cause); !written) {
    files_->Warn(written.error().message + ": no file was written for " + cause);
  }
}

Status FlightRecorder::Write(const std::string& cause) {
  files_->MakeRoom(buffer_->bytes());
  if (output_.reserved_space > 0 && !files_->HasRoom(buffer_->bytes())) {
    return Fail(ErrorCode::kIo,
                output_.file.native() +
                    ": the disk has no room for the records in addition to --reserve-space");
  }
  const std::filesystem::path path = files_->NextPath();
  TRY_ASSIGN(FlightContents contents, buffer_->Contents());
  const std::uint64_t kept_ns = contents.kept_ns;
  const bool is_short_of_memory = contents.is_short_of_memory;
  TRY_ASSIGN(EndedFile file, MakeFile(path, cause, std::move(contents)));
  cooldown_.Begin(clock_.MonotonicNs());
  sums_.kept_ns = kept_ns;
  if (is_short_of_memory) {
    sums_.least_kept_ns = std::min(sums_.least_kept_ns.value_or(kept_ns), kept_ns);
  }
  if (sums_.files.size() == kMostFilesInSummary) sums_.files.erase(sums_.files.begin());
  sums_.files.push_back({.trigger = cause, .file = path, .kept_ns = kept_ns});
  files_->Add(std::move(file));
  return {};
}

// The rounds are in the result; the recording continues.
Result<EndedFile> FlightRecorder::MakeFile(const std::filesystem::path& path,
                                           const std::string& cause,
                                           FlightContents contents) const {
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
  std::vector<std::string> ignored;  // the file that Open created had the same warnings
  TRY_ASSIGN(RecordingFile file, parts_->files.CreateFile(path, target, OldFile::kRefuse, ignored));
  perfdata::BuildIds build_ids = parts_->build_ids.BuildIdsOf(contents.hit);
  TRY(file.Append(contents.state));
  TRY_ASSIGN(const std::vector<std::byte> build_id_records, EncodeBuildIds(build_ids));
  TRY(file.Append(build_id_records));
  TRY(file.Commit());

  NotesByFile notes;
  (void)notes.Next(contents.notes_before);
  EndedFile ended{.file = std::move(file),
                  .is_published = false,
                  .features = {{perfdata::FeatureBit::kBuildId, std::move(build_ids)},
                               {perfdata::FeatureBit::kSampleTime, contents.sample_time}},
                  .bundle = {},
                  .notes = notes.Next(parts_->notes_of(Counts())),
                  .samples = contents.samples};
  ended.notes.samples = contents.samples;
  ended.notes.trigger = cause;
  for (const std::shared_ptr<const FlightRound>& round : contents.rounds) {
    ended.rounds.push_back({.records = {round, &round->records}, .samples = round->samples});
  }
  ended.encode_lost = [files = &parts_->files, time_ns = contents.sample_time.last_ns](
                          std::uint64_t samples) { return files->EncodeLost(samples, 0, time_ns); };
  if (has_bundle_) {
    TRY_ASSIGN(std::optional<RecordingBundle> bundle, parts_->files.PrepareBundle(target));
    parts_->build_ids.AddMissing(contents.hit, contents.files);
    bundle->files().AddAllOf(contents.files);
    bundle->jit() = std::move(contents.jit);
    ended.bundle.emplace(*std::move(bundle));
  }
  return ended;
}

OutputSummary FlightRecorder::End(const RecordingEnd& end, std::vector<std::string>& warnings) {
  if (end.failure) (void)EndBufferRound();
  sums_.dropped_samples = buffer_->dropped_samples();
  sums_.ignored_triggers = cooldown_.ignored();
  OutputCounts counts = Counts();
  const std::uint64_t kept = counts.samples;
  const Status written = Write(end.cause);
  OutputSummary summary = files_->End(warnings);
  if (!written) {
    if (!summary.failure.empty()) warnings.push_back(std::move(summary.failure));
    summary.failure = written.error().message;
  }
  if (end.failure) summary.failure = end.failure->message;
  // Files before may have been deleted; their samples do not count.
  counts.samples = written ? std::min(kept, files_->last_samples()) : 0;
  counts.unwritten_samples = kept - counts.samples;
  summary.counts = std::move(counts);
  summary.flight = sums_;
  return summary;
}

}  // namespace perftape::record
