// SPDX-License-Identifier: Apache-2.0
#include "record/output/recording_output.h"

#include <algorithm>
#include <utility>

#include "formats/perfdata/record_cursor.h"
#include "record/machine/machine_features.h"
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

RecordingOutput::RecordingOutput(RecordingFile file, std::optional<RecordingBundle> bundle,
                                 const EventInput& input)
    : file_(std::move(file)),
      format_(input.events().format()),
      bundle_(std::move(bundle)),
      build_ids_(format_, BuildIdRoots{}, KeepersOf(bundle_)) {
  if (const auto& processes = input.targets().processes()) {
    target_filter_.emplace(*processes, format_);
  }
  const std::uint32_t events = input.events().sideband_event();
  samples_by_event_.resize(events);
  for (std::uint32_t event = 0; event < events; ++event) {
    for (const std::uint64_t id : input.events().ids().IdsOf(event)) events_by_id_[id] = event;
  }
}

Result<std::unique_ptr<RecordingOutput>> RecordingOutput::Open(const RecordOptions& options,
                                                               const OutputTarget& target,
                                                               const EventInput& input,
                                                               std::span<const BpfProgram> programs,
                                                               const std::stop_token& stop,
                                                               std::vector<std::string>& warnings) {
  std::optional<RecordingBundle> bundle;
  if (WantsBundle(options.bundle, target)) {
    TRY_ASSIGN(RecordingBundle prepared, RecordingBundle::Prepare(options.bundle));
    bundle.emplace(std::move(prepared));
  }
  const std::vector<perfdata::Event> events = input.events().AttributeTable();
  std::vector<perfdata::Feature> features = FeaturesOf(options, events, programs);
  TRY(AddTracingData(input.events(), features));
  TRY_ASSIGN(RecordingFile file,
             RecordingFile::Create({.path = options.output,
                                    .target = target,
                                    .compression_level = options.compression_level,
                                    .stop = stop},
                                   events, std::move(features), warnings));
  return std::unique_ptr<RecordingOutput>(
      new RecordingOutput(std::move(file), std::move(bundle), input));
}

Status RecordingOutput::WriteInitialState(Bytes records) {
  std::vector<std::byte> build_ids;
  TRY(build_ids_.Observe(records, build_ids));
  TRY(file_.Append(records));
  return file_.Commit();
}

Status RecordingOutput::Append(Bytes bytes) {
  TRY_ASSIGN(const std::optional<perfdata::RecordView> record,
             perfdata::RecordCursor(bytes, 0, std::endian::native).Next());
  if (target_filter_ && !target_filter_->Keeps(*record)) return {};
  Count(*record);
  if (record->type == perfdata::RecordType::kLost) {
    TRY_ASSIGN(const perfdata::Lost lost, perfdata::Decode<perfdata::Lost>(*record, format_));
    lost_process_events_ += lost.count;
  }
  // A build id precedes the first sample in its binary.
  std::vector<std::byte> build_ids;
  TRY(build_ids_.Observe(bytes, build_ids));
  TRY(file_.Append(build_ids));
  return file_.Append(bytes);
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
  }
}

Status RecordingOutput::CommitRound() {
  std::vector<std::byte> finished_round;
  TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, finished_round));
  TRY(file_.Append(finished_round));
  TRY(file_.Commit());
  committed_ = appended_;
  return {};
}

RecordCounts RecordingOutput::uncommitted() const {
  return {.samples = appended_.samples - committed_.samples,
          .process_events = appended_.process_events - committed_.process_events};
}

Result<std::uint64_t> RecordingOutput::WriteFeatures() {
  return std::move(file_).Finish({{perfdata::FeatureBit::kBuildId, build_ids_.all()},
                                  {perfdata::FeatureBit::kSampleTime, sample_time_}});
}

void RecordingOutput::Summarize(RecordSummary& summary) const {
  summary.samples = appended_.samples;
  for (std::size_t event = 0; event < summary.events.size(); ++event) {
    summary.events[event].samples = samples_by_event_[event];
  }
  summary.lost_process_events = lost_process_events_;
}

// If another recording has the name now, this one is PATH.old, or deleted.
void RecordingOutput::CheckName(RecordSummary& summary) const {
  const std::filesystem::path requested = file_.requested_path();
  summary.file = requested;
  const std::optional<std::filesystem::path> path = file_.CurrentPath();
  if (path == file_.published_path()) return;
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
  if (!bundle_) return;
  if (!summary.failure.empty() && !bundle_->is_separate_file()) {
    summary.bundle_failure = "they can only be appended to a finished recording";
    return;
  }
  build_ids_.KeepMissing();
  Result<BundleSummary> written = std::move(*bundle_).Write(file_.fd(), summary.file.native());
  if (written) {
    summary.bundle = *std::move(written);
  } else {
    summary.bundle_failure = std::move(written).error().message;
  }
}

}  // namespace perftape::record
