// SPDX-License-Identifier: Apache-2.0
// The process that reads the recorder's files. It can read all files, because symbols are in them,
// and write only in the directory of the recordings.
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdlib>
#include <utility>

#include "record/machine/clock.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/serve/channels/file_channel.h"
#include "tools/serve/importer.h"
#include "tools/serve/processes.h"

namespace perftape::serve {
namespace {

// Waits for the process that pushes only for a moment, which that process never needs.
class PayloadSender {
 public:
  PayloadSender(UniqueFd channel, PushCounts* counts)
      : channel_(std::move(channel)), counts_(counts) {
    SetTimeout();
  }

  // A pusher that was started again is at the other end.
  void Connect(UniqueFd channel) {
    channel_ = std::move(channel);
    SetTimeout();
  }

  // After a failure, part of a payload may be written: then no other follows.
  void Send(const Payload& payload) {
    if (channel_ && !WritePayload(channel_.get(), payload)) channel_.Reset();
    (channel_ ? counts_->handed_samples : counts_->dropped(PushDrop::kNoProcess)) +=
        payload.samples;
  }

 private:
  void SetTimeout() {
    constexpr timeval kSendTimeout = {.tv_sec = 1, .tv_usec = 0};
    if (channel_)
      (void)setsockopt(channel_.get(), SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof kSendTimeout);
  }

  UniqueFd channel_;
  PushCounts* counts_;  // null: nothing is pushed
};

}  // namespace

int RunImporter(const ServeRun& run, const std::filesystem::path& directory, ImporterParts parts,
                cli::Console& console) {
  if (!run.no_sandbox) {
    const Status confined = sandbox::ConfineToReading({.readable = {"/"}, .writable = {directory}});
    if (!confined) {
      console.Error(confined.error().message);
      return EXIT_FAILURE;
    }
  }
  Importer importer(directory / "binaries",
                    run.push.is_on() ? PayloadKind(run.push.target.protocol) : std::nullopt);
  PayloadSender pushes(std::move(parts.payloads), parts.push_counts);
  FileMessage message;
  UniqueFd binary;
  std::uint64_t failed = 0;
  while (Receive(parts.files.get(), message, binary)) {
    const std::string path = &message.path[0];
    if (message.kind == FileMessage::Kind::kPayloads) {
      pushes.Connect(std::move(binary));
      continue;
    }
    if (message.kind == FileMessage::Kind::kBinary) {
      const Status kept = importer.Keep(path, message.build_id, binary.get());
      if (!kept) console.Detail(kept.error().message);
      continue;
    }
    Result<ImportedFile> file = importer.Import(path);
    if (!file) {
      ++failed;
      console.Warning(file.error().message);
      continue;
    }
    ImportedWindow& window = file->window;
    window.recorder_cpu_ns = message.recorder_cpu_ns;
    window.importer_cpu_ns = record::SystemClock().CpuNs();
    window.failed_windows = failed + message.failed_files;
    console.Detail(path + ": " + std::to_string(window.notes.samples) + " samples");
    if (const Status written = SendWindow(parts.windows.get(), window); !written) {
      console.Error(written.error().message);
      return EXIT_FAILURE;
    }
    for (const Payload& payload : file->payloads) pushes.Send(payload);
  }
  return EXIT_SUCCESS;
}

}  // namespace perftape::serve
