// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_template.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "formats/perfdata/tracing_files.h"
#include "record/events/event_plan.h"
#include "record/events/tracefs.h"
#include "record/machine/machine_features.h"
#include "record/output/retention.h"

namespace perftape::record {
namespace {

// By subsystem.
std::map<std::string_view, std::vector<std::string_view>> FormatsOf(
    std::span<const PlannedEvent> sampling) {
  std::map<std::string_view, std::vector<std::string_view>> formats;
  for (const PlannedEvent& event : sampling) {
    if (event.format.empty()) continue;
    std::vector<std::string_view>& files = formats[event.subsystem];
    // An event with programs of its own has the format of a tracepoint, which may be recorded, too.
    if (std::ranges::find(files, event.format) == files.end()) {
      files.push_back(event.format);
    }
  }
  return formats;
}

// Returns the formats of the tracepoints, without kallsyms and the other parts that perf can leave
// empty. perf opens no file with a tracepoint without them. Fails if tracefs cannot be read.
Result<perfdata::TracingData> TracingDataOf(std::span<const PlannedEvent> sampling,
                                            const Tracefs& tracefs) {
  TRY_ASSIGN(const std::string page, tracefs.Read("events/header_page"));
  TRY_ASSIGN(const std::string event, tracefs.Read("events/header_event"));
  perfdata::TracingFiles files{.header_page = page, .header_event = event};
  for (auto& [subsystem, formats] : FormatsOf(sampling)) {
    files.subsystems.push_back({.name = subsystem, .formats = formats});
  }
  return perfdata::TracingData{.version = "0.6",
                               .long_size = sizeof(long),
                               .page_size = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)),
                               .formats = perfdata::EncodeTracingFiles(files)};
}

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

Status AddTracingData(const FileEvents& events, std::vector<perfdata::Feature>& features) {
  const auto has_format = [](const PlannedEvent& event) { return !event.format.empty(); };
  if (std::ranges::none_of(events.sampling(), has_format)) return {};
  TRY_ASSIGN(const Tracefs tracefs, Tracefs::Find());
  TRY_ASSIGN(perfdata::TracingData data, TracingDataOf(events.sampling(), tracefs));
  features.push_back({perfdata::FeatureBit::kTracingData, std::move(data)});
  return {};
}

}  // namespace

FileTemplate::FileTemplate(const OutputOptions& options, const FileEvents& events,
                           std::stop_token stop)
    : options_(options),
      events_(events.AttributeTable()),
      features_(
          DescribeMachine({}, {.version = PERFTAPE_VERSION, .arguments = options.command_line})),
      format_(events.format()),
      first_event_(events.TrailerOf(kFirstEvent, 0, 0)),
      sideband_event_(events.TrailerOf(events.sideband_event(), 0, 0)),
      stop_(std::move(stop)) {
  features_.push_back({perfdata::FeatureBit::kEventDesc, perfdata::EventDesc{events_}});
  if (perfdata::GroupDesc groups = events.Groups(); !groups.groups.empty()) {
    features_.push_back({perfdata::FeatureBit::kGroupDesc, std::move(groups)});
  }
}

Result<FileTemplate> FileTemplate::Make(const OutputOptions& options, const FileEvents& events,
                                        std::span<const BpfProgram> programs,
                                        std::stop_token stop) {
  FileTemplate made(options, events, std::move(stop));
  if (!programs.empty()) {
    made.features_.push_back({perfdata::FeatureBit::kBpfProgInfo, BpfProgInfoOf(programs)});
  }
  TRY(AddTracingData(events, made.features_));
  return made;
}

Result<RecordingFile> FileTemplate::CreateFile(const std::filesystem::path& path,
                                               const OutputTarget& target, OldFile old,
                                               std::vector<std::string>& warnings) const {
  TRY_ASSIGN(RecordingFile file,
             RecordingFile::Create({.path = path,
                                    .target = target,
                                    .compression_level = options_.compression_level,
                                    .old = old,
                                    .sync = options_.sync,
                                    .stop = stop_},
                                   events_, features_, warnings));
  // One of several, which other recorders must not delete.
  if (old == OldFile::kRefuse && file.fd() >= 0) LockWhileInUse(file.fd());
  return file;
}

Result<std::optional<RecordingBundle>> FileTemplate::PrepareBundle(
    const OutputTarget& target) const {
  std::optional<RecordingBundle> bundle;
  if (!WantsBundle(options_.bundle, target)) return bundle;
  BundleRequest request = options_.bundle;
  request.reserved_space = options_.reserved_space;
  TRY_ASSIGN(RecordingBundle prepared, RecordingBundle::Prepare(request));
  bundle.emplace(std::move(prepared));
  return bundle;
}

Result<std::vector<std::byte>> FileTemplate::EncodeLost(std::uint64_t samples,
                                                        std::uint64_t process_events,
                                                        std::uint64_t time_ns) const {
  std::vector<std::byte> records;
  const auto at_time = [&](perfdata::SampleId trailer) {
    trailer.time = time_ns;
    return trailer;
  };
  if (samples > 0) {
    TRY(perfdata::Encode(perfdata::LostSamples{.count = samples}, at_time(first_event_), format_, 0,
                         records));
  }
  if (process_events > 0) {
    const perfdata::Lost lost{.event_id = sideband_event_.id, .count = process_events};
    TRY(perfdata::Encode(lost, at_time(sideband_event_), format_, 0, records));
  }
  if (!records.empty()) TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, records));
  return records;
}

}  // namespace perftape::record
