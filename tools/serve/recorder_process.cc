// SPDX-License-Identifier: Apache-2.0
// The process that records. It has no other task, so it can give up most privileges.
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include "record/recorder.h"
#include "tools/common/recording/own_command_line.h"
#include "tools/common/recording/stop_signals.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/serve/channels/file_channel.h"
#include "tools/serve/cri/runtime_names.h"
#include "tools/serve/processes.h"

namespace perftape::serve {
namespace {

// Files that the importer has not read yet.
constexpr std::uint64_t kMostFileBytes = std::uint64_t{256} << 20;
constexpr std::string_view kFileName = "window.%n";

// Starts the process that asks the container runtime, if one is given, and returns the end of the
// channel to it. It ends with the recorder. `parts` are not for it.
UniqueFd StartRuntimeClient(const ServeRun& run, RecorderParts* parts, cli::Console& console) {
  if (run.cri_socket.empty()) return {};
  Result<Channel> channel = MakeChannel(ChannelKind::kMessages);
  Result<pid_t> started =
      !channel ? Fail(std::move(channel).error())
               : StartProcess("perftape-cri", Sigterm::kIsIgnored, [&] {
                   if (parts != nullptr) *parts = {};
                   channel->sender.Reset();
                   return AnswerAsks(run.cri_socket, channel->receiver, !run.no_sandbox, console);
                 });
  if (started) return std::move(channel->sender);
  console.Warning(started.error().message);
  return {};
}

// Records until SIGTERM, or as long as the options say. Returns the exit status.
int Record(record::RecordOptions options, const ServeRun& run, cli::Console& console) {
  options.output.command_line = recording::OwnCommandLine();
  if (!run.no_sandbox) {
    options.drop_privileges = [file = options.output.file] {
      return sandbox::DropRecorderPrivileges({&file, 1});
    };
  }
  const auto signals = recording::StopSignals::Catch([](int) {});
  if (!signals) {
    console.Error(signals.error().message);
    return EXIT_FAILURE;
  }
  const Result<record::RecordSummary> summary = record::Record(options, (*signals)->token());
  if (!summary) {
    console.Error(summary.error().message);
    return EXIT_FAILURE;
  }
  for (const std::string& warning : summary->warnings) console.Warning(warning);
  if (summary->output.failure.empty()) return EXIT_SUCCESS;
  console.Error(summary->output.failure);
  return EXIT_FAILURE;
}

}  // namespace

int RunRecorder(const ServeRun& run, record::SwitchRequest& cut,
                const std::filesystem::path& directory, RecorderParts parts,
                cli::Console& console) {
  RuntimeNames names(StartRuntimeClient(run, &parts, console));
  FileSender sender(std::move(parts.files));
  record::RecordOptions options = run.record;
  options.input.names = &names;
  options.output.file = directory / kFileName;
  options.on_published = [&] { (void)send(parts.started.get(), "", 1, MSG_NOSIGNAL); };
  options.output.bundle.destination = record::BundleRequest::Destination::kNone;
  options.rotation = record::RotationOptions{
      .switch_interval = run.window,
      .files = {.request = &cut,
                .keep = {.bytes = kMostFileBytes},
                .on_file = [&](const std::filesystem::path& file) { sender.SendRecording(file); },
                .on_binary = [&](std::string_view path, const BuildId& build_id,
                                 int file) { sender.SendBinary(path, build_id, file); }}};
  const int status = Record(std::move(options), run, console);
  sender.Finish();
  return status;
}

int RunTrial(const ServeRun& run, const std::filesystem::path& file, cli::Console& console) {
  record::RecordOptions options = run.record;
  options.output.file = file;
  options.output.bundle.destination = record::BundleRequest::Destination::kNone;
  options.duration = std::chrono::milliseconds(1);
  return Record(std::move(options), run, console);
}

// Another process gets the file, and deletes it.
int RunOneRecording(const ServeRun& run, const RecordCommand& command,
                    const std::filesystem::path& file, cli::Console& console) {
  RuntimeNames names(StartRuntimeClient(run, nullptr, console));
  record::RecordOptions options = run.record;
  options.input.names = &names;
  options.output.file = file;
  options.duration = std::chrono::nanoseconds(command.duration_ns);
  record::InputOptions& input = options.input;
  if (command.event != RecordCommand::kAllEvents && !input.events.empty())
    input.events = {input.events.at(command.event)};
  if (command.frequency_hz != 0) input.rate = record::Frequency{command.frequency_hz};
  if (command.pid != 0) {
    input.target = record::ProcessTrees{{static_cast<pid_t>(command.pid)}};
    input.scope = {};
    input.scope.all_cgroups = true;
    input.user.reset();
  }
  return Record(std::move(options), run, console);
}

}  // namespace perftape::serve
