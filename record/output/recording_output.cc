// SPDX-License-Identifier: Apache-2.0
#include "record/output/recording_output.h"

#include <algorithm>
#include <utility>

#include "record/machine/machine_features.h"
#include "record/output/retention.h"
#include "record/output/tracing_data.h"

namespace perftape::record {
namespace {

// A stream has no end to append a bundle to.
bool WantsBundle(const BundleRequest& request, const OutputTarget& target) {
  switch (request.destination) {
    case BundleRequest::Destination::kNone:
      return false;
    case BundleRequest::Destination::kRecording:
      return !target.is_stream();
    case BundleRequest::Destination::kSeparateFile:
      return true;
  }
  return false;
}

HitKeepers KeepersOf(std::optional<RecordingBundle>& bundle) {
  return bundle ? HitKeepers{&bundle->files(), &bundle->jit()} : HitKeepers{};
}

Status AddTracingData(const RecordedEvents& events, std::vector<perfdata::Feature>& features) {
  const auto has_format = [](const RecordedEvents::Sampling& event) {
    return !event.plan.format.empty();
  };
  if (std::ranges::none_of(events.sampling(), has_format)) return {};
  TRY_ASSIGN(const Tracefs tracefs, Tracefs::Find());
  TRY_ASSIGN(perfdata::TracingData data, TracingDataOf(events.sampling(), tracefs));
  features.push_back({perfdata::FeatureBit::kTracingData, std::move(data)});
  return {};
}

std::vector<perfdata::Feature> FeaturesOf(const RecordOptions& options,
                                          std::span<const perfdata::Event> events,
                                          std::span<const BpfProgram> programs) {
  std::vector<perfdata::Feature> features =
      DescribeMachine({}, {.version = PERFTAPE_VERSION, .arguments = options.command_line});
  features.push_back(
      {perfdata::FeatureBit::kEventDesc,
       perfdata::EventDesc{std::vector<perfdata::Event>(events.begin(), events.end())}});
  if (!programs.empty()) {
    features.push_back({perfdata::FeatureBit::kBpfProgInfo, BpfProgInfoOf(programs)});
  }
  return features;
}

}  // namespace

RecordingOutput::RecordingOutput(const RecordOptions& options, Contents contents,
                                 std::optional<RecordingBundle> bundle, const EventInput& input)
    : options_(options),
      contents_(std::move(contents)),
      format_(input.events().format()),
      bundle_(std::move(bundle)),
      build_ids_(input.events().sample_formats(), BuildIdRoots{.files = options.files},
                 KeepersOf(bundle_)),
      loss_trailer_(input.events().TrailerOf(kFirstEvent, 0, 0)) {
  if (options.rotation) seam_.emplace(format_);
  if (options.aggregate) {
    aggregator_.emplace(input.events().sample_formats(),
                        static_cast<std::uint64_t>(options.aggregate->count()));
  }
  if (options.flight) {
    flight_.emplace(
        format_,
        FlightLimits{.span_ns = static_cast<std::uint64_t>(options.flight->span.count()),
                     .bytes = options.flight->memory},
        bundle_ ? RoomForOpenFiles() : 0, options_.files);
    (void)build_ids_.StartFile(Keepers(), {});
  }
  if (const auto& processes = input.targets().processes()) {
    target_filter_.emplace(*processes, format_);
  }
  const std::uint32_t events = input.events().sideband_event();
  samples_by_event_.resize(events);
  for (std::uint32_t event = 0; event < events; ++event) {
    for (const std::uint64_t id : input.events().ids().IdsOf(event)) events_by_id_[id] = event;
  }
}

Result<std::unique_ptr<RecordingOutput>> RecordingOutput::Open(
    const RecordOptions& options, const std::filesystem::path& path, const OutputTarget& target,
    const EventInput& input, std::span<const BpfProgram> programs, const std::stop_token& stop,
    std::vector<std::string>& warnings) {
  std::optional<RecordingBundle> bundle;
  if (WantsBundle(options.bundle, target)) {
    BundleRequest request = options.bundle;
    request.reserved_space = options.reserved_space;
    TRY_ASSIGN(RecordingBundle prepared, RecordingBundle::Prepare(request));
    bundle.emplace(std::move(prepared));
  }
  Contents contents{.events = input.events().AttributeTable(), .features = {}, .stop = stop};
  contents.features = FeaturesOf(options, contents.events, programs);
  TRY(AddTracingData(input.events(), contents.features));
  std::unique_ptr<RecordingOutput> output(
      new RecordingOutput(options, std::move(contents), std::move(bundle), input));
  TRY_ASSIGN(RecordingFile file, output->CreateFile(path, target, warnings));
  // A flight recording has only checked that it can create one.
  if (!output->flight_) output->file_.emplace(std::move(file));
  return output;
}

Result<RecordingFile> RecordingOutput::CreateFile(const std::filesystem::path& path,
                                                  const OutputTarget& target,
                                                  std::vector<std::string>& warnings) const {
  const bool is_one_of_several = options_.rotation || options_.flight;
  TRY_ASSIGN(RecordingFile file,
             RecordingFile::Create({.path = path,
                                    .target = target,
                                    .compression_level = options_.compression_level,
                                    .old = is_one_of_several ? OldFile::kRefuse : OldFile::kKeep,
                                    .sync = options_.sync,
                                    .stop = contents_.stop},
                                   contents_.events, contents_.features, warnings));
  if (is_one_of_several && file.fd() >= 0) LockWhileInUse(file.fd());
  return file;
}

Status RecordingOutput::WriteInitialState(Bytes records) {
  std::vector<std::byte> build_ids;
  TRY(build_ids_.Observe(records, build_ids));
  if (flight_) return flight_->ApplyInitialState(records);
  if (seam_) TRY(seam_->Apply(records));
  TRY(file_->Append(records));
  return file_->Commit();
}

Result<RecordingFile> RecordingOutput::CreateAtSeam(const std::filesystem::path& path,
                                                    Bytes state) const {
  TRY_ASSIGN(const OutputTarget target, ResolveOutput(path));
  std::vector<std::string> ignored;  // the first file had the same warnings
  TRY_ASSIGN(RecordingFile file, CreateFile(path, target, ignored));
  TRY(file.Append(state));
  TRY(file.Commit());
  TRY(file.Publish());
  return file;
}

Status RecordingOutput::StartFile(RecordingFile file, Bytes state) {
  file_.emplace(std::move(file));
  before_file_ = appended_;
  sample_time_ = {};
  return build_ids_.StartFile(KeepersOf(bundle_), state);
}

Result<EndedFile> RecordingOutput::NextFile(const std::filesystem::path& path) {
  TRY_ASSIGN(const std::vector<std::byte> state, seam_->Encode());
  TRY_ASSIGN(RecordingFile next, CreateAtSeam(path, state));
  EndedFile ended = EndFile(Successor::kFollows);
  TRY(StartFile(std::move(next), state));
  return ended;
}

EndedFile RecordingOutput::EndFile(Successor successor) {
  std::optional<RecordingBundle> next_bundle;
  if (bundle_ && successor == Successor::kFollows) next_bundle.emplace(bundle_->NextFile());
  build_ids_.KeepMissing();
  const RecordCounts missing = uncommitted();
  EndedFile ended{.file = *std::move(file_),
                  .features = {{perfdata::FeatureBit::kBuildId, build_ids_.all()},
                               {perfdata::FeatureBit::kSampleTime, sample_time_}},
                  .bundle = std::move(bundle_),
                  .notes = notes_by_file_.Next(notes_so_far_()),
                  .samples = samples_in_file(),
                  .has_failed = missing.samples + missing.process_events > 0};
  file_.reset();
  bundle_.reset();
  if (next_bundle) bundle_.emplace(*std::move(next_bundle));
  // The keepers so far belong to the ended file now, and another thread may destroy them. On a full
  // disk records arrive before the next file begins.
  (void)build_ids_.StartFile(KeepersOf(bundle_), {});
  if (!ended.has_failed && appended_lost_ == 0) return ended;
  // A failed commit. Perhaps the file has room for the number of what it lacks.
  discarded_ += missing.samples;
  unwritten_ += missing.samples + std::exchange(appended_lost_, 0);
  committed_ = appended_;
  const auto records = EncodeUnwritten(sample_time_.last_ns);
  if (records && ended.file.CommitInstead(*records)) unwritten_ = 0;
  return ended;
}

Status RecordingOutput::Resume(const std::filesystem::path& path, std::uint64_t time_ns) {
  TRY_ASSIGN(std::vector<std::byte> records, seam_->Encode());
  const std::size_t state_size = records.size();
  TRY_ASSIGN(const std::vector<std::byte> losses, EncodeUnwritten(time_ns));
  records.insert(records.end(), losses.begin(), losses.end());
  TRY_ASSIGN(RecordingFile file, CreateAtSeam(path, records));
  unwritten_ = 0;
  return StartFile(std::move(file), Bytes(records).first(state_size));
}

Result<std::vector<std::byte>> RecordingOutput::EncodeLost(std::uint64_t samples,
                                                           const perfdata::SampleId& trailer,
                                                           const perfdata::SampleFormat& format) {
  std::vector<std::byte> records;
  if (samples == 0) return records;
  TRY(perfdata::Encode(perfdata::LostSamples{.count = samples}, trailer, format, 0, records));
  TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, records));
  return records;
}

Result<std::vector<std::byte>> RecordingOutput::EncodeUnwritten(std::uint64_t time_ns) const {
  perfdata::SampleId trailer = loss_trailer_;
  trailer.time = time_ns;
  return EncodeLost(unwritten_, trailer, format_);
}

Status RecordingOutput::CommitInstead(Bytes records) {
  if (!file_) return {};
  return file_->CommitInstead(records);
}

Status RecordingOutput::Append(Bytes bytes) {
  const std::optional<perfdata::RecordView> record = perfdata::AsRecord(bytes);
  if (!record) return Fail(ErrorCode::kCorrupt, "what is recorded is not one whole record");
  if (target_filter_ && !target_filter_->Keeps(*record)) return {};
  Count(*record);
  if (seam_) seam_->Apply(*record);
  if (record->type == perfdata::RecordType::kLost) {
    TRY(CountLost(*record));
  }
  if (observe_ && record->type == perfdata::RecordType::kSample) observe_(*record);
  // A build id precedes the first sample in its binary.
  std::vector<std::byte> build_ids;
  TRY(build_ids_.Observe(*record, build_ids));
  if (flight_) {
    flight_->Add(*record, bytes);
    return flight_->IsRoundFull() ? EndFlightRound() : Status();
  }
  if (!file_) return {};
  if (aggregator_) {
    aggregator_->AddOther(build_ids);
    aggregator_->Add(*record, bytes);
    return {};
  }
  if (part_failure_) return {};
  TRY(file_->Append(build_ids));
  TRY(file_->Append(bytes));
  if (file_->uncommitted_bytes() >= kPartOfRound) CommitPart();
  return {};
}

// What a full disk costs is a part of a round. The LOST_SAMPLES are the last records of a round, so
// they are not committed before the round. A rotating recording makes room before each round.
void RecordingOutput::CommitPart() {
  if (seam_ || appended_lost_ > 0) return;
  Status committed = CheckReservedSpace();
  if (committed) committed = file_->Commit();
  if (committed) {
    committed_ = appended_;
  } else {
    part_failure_ = std::move(committed).error();
  }
}

Status RecordingOutput::EndInterval() {
  if (!aggregator_) return {};
  const Status appended = file_ ? file_->Append(aggregator_->records()) : Status();
  aggregator_->Clear();
  return appended;
}

Status RecordingOutput::CountLost(const perfdata::RecordView& record) {
  TRY_ASSIGN(const perfdata::Lost lost, perfdata::Decode<perfdata::Lost>(record, format_));
  const std::uint32_t cpu = perfdata::DecodeSampleId(record, format_).cpu;
  lost_process_events_[static_cast<int>(cpu)] += lost.count;
  return {};
}

void RecordingOutput::Count(const perfdata::RecordView& record) {
  if (record.type == perfdata::RecordType::kSample) {
    ++appended_.samples;
    // IDENTIFIER is the first field.
    const auto id = LoadFixed<std::uint64_t>(record.payload.data(), record.order);
    if (const auto event = events_by_id_.find(id); event != events_by_id_.end()) {
      ++samples_by_event_[event->second];
    }
    sample_time_.last_ns = perfdata::TimeOf(record, format_);
    if (sample_time_.first_ns == 0) sample_time_.first_ns = sample_time_.last_ns;
  } else if (record.type != perfdata::RecordType::kLostSamples) {
    ++appended_.process_events;
  } else if (const auto lost = perfdata::Decode<perfdata::LostSamples>(record, format_)) {
    appended_lost_ += lost->count;
  }
}

// What the disk lacks is not written, and ends the recording as a full disk does.
Status RecordingOutput::CheckReservedSpace() const {
  if (options_.reserved_space == 0 || file_->fd() < 0) return {};
  const std::filesystem::path directory = file_->requested_path().parent_path();
  TRY_ASSIGN(const std::uint64_t free, FreeSpace(directory.empty() ? "." : directory));
  const std::uint64_t needed = options_.reserved_space + file_->uncommitted_bytes();
  if (free >= needed) return {};
  return Fail(ErrorCode::kIo, file_->requested_path().native() + ": only " + std::to_string(free) +
                                  " bytes of the disk are free, and --reserve-space leaves " +
                                  std::to_string(options_.reserved_space) + " to others");
}

Status RecordingOutput::CommitRound() {
  if (flight_) {
    TRY(EndFlightRound());
  } else if (!file_) {
    discarded_ += appended_.samples - committed_.samples;
    unwritten_ += appended_.samples - committed_.samples + appended_lost_;
  } else {
    if (part_failure_) return Fail(*part_failure_);
    std::vector<std::byte> finished_round;
    TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, finished_round));
    TRY(file_->Append(finished_round));
    TRY(CheckReservedSpace());
    TRY(file_->Commit());
  }
  committed_ = appended_;
  appended_lost_ = 0;
  if (build_ids_.HasGrown()) {
    build_ids_.ForgetUnused(flight_ ? flight_->HitDsos() : std::vector<const perfdata::Dso*>());
  }
  return {};
}

RecordCounts RecordingOutput::uncommitted() const {
  return {.samples = appended_.samples - committed_.samples,
          .process_events = appended_.process_events - committed_.process_events};
}

Result<FinishedRecording> RecordingOutput::WriteFeatures() {
  TRY_ASSIGN(FinishedRecording finished,
             std::move(*file_).Finish({{perfdata::FeatureBit::kBuildId, build_ids_.all()},
                                       {perfdata::FeatureBit::kSampleTime, sample_time_}}));
  has_features_ = true;
  return finished;
}

std::optional<perfdata::Compression> RecordingOutput::compression() const {
  return file_ ? file_->compression() : std::nullopt;
}

void RecordingOutput::Summarize(RecordSummary& summary) const {
  summary.samples = appended_.samples - discarded_ - dropped_samples();
  summary.lost_samples += discarded_;
  summary.unwritten_samples += discarded_;
  for (std::size_t event = 0; event < summary.events.size(); ++event) {
    summary.events[event].samples = samples_by_event_[event];
  }
  if (flight_) SubtractDropped(summary);
  summary.lost_process_events = 0;
  for (const auto& [cpu, records] : lost_process_events_) summary.lost_process_events += records;
  summary.sideband_losses = lost_process_events_;
  if (aggregator_) {
    summary.aggregated = aggregator_->aggregated();
    summary.aggregate_ns = static_cast<std::uint64_t>(options_.aggregate->count());
  }
}

// If another recording has the name now, this one is PATH.old, or deleted.
void RecordingOutput::CheckName(RecordSummary& summary) const {
  const std::filesystem::path requested = file_->requested_path();
  summary.file = requested;
  const std::optional<std::filesystem::path> path = file_->CurrentPath();
  if (path == file_->published_path()) return;
  if (!path) {
    summary.failure = requested.native() + ": was deleted, or replaced twice, while it was written";
    summary.lost_samples += std::exchange(summary.samples, 0);
    return;
  }
  summary.file = *path;
  summary.warnings.push_back(requested.native() +
                             " was renamed while it was recorded; this recording is now " +
                             path->native());
}

void RecordingOutput::WriteBundle(RecordSummary& summary) {
  const bundle::RecordingNotes notes = NotesOf(summary);
  if (bundle_) WriteSymbols(notes, summary);
  const bool has_notes = summary.bundle && !bundle_->is_separate_file();
  if (has_notes || file_->fd() < 0 || !has_features_) return;
  const Status written = AppendNotes(file_->fd(), summary.file.native(), notes);
  if (!written && summary.failure.empty()) summary.warnings.push_back(written.error().message);
}

void RecordingOutput::WriteSymbols(const bundle::RecordingNotes& notes, RecordSummary& summary) {
  // On a full disk, the features may have found room, and the bundle may as well.
  const bool is_finished = has_features_ && file_->CurrentPath();
  if (!is_finished && !bundle_->is_separate_file()) {
    summary.bundle_failure = "they can only be appended to a finished recording";
    return;
  }
  build_ids_.KeepMissing();
  Result<BundleSummary> written =
      std::move(*bundle_).Write(file_->fd(), summary.file.native(), notes);
  if (written) {
    summary.bundle = *std::move(written);
  } else {
    summary.bundle_failure = std::move(written).error().message;
  }
}

}  // namespace perftape::record
