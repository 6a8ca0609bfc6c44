// SPDX-License-Identifier: Apache-2.0
// The processes of the service. Each is forked before any thread starts, and ends with the first
// one, which only waits for them.
//
//   recorder   files ─▶ importer   windows ─▶ server
//      ▲                    │                    │
//      └──────────────── cut ────────────────────┘
//                           │
//                           └─ payloads ─▶ pusher
//
// The first process starts a process again that has ended. So it keeps what the next one goes on
// with: both ends of the channels of files and windows, and the file of the history
// (history_file.h). It tells the server and the pusher by notices (channels/notice.h) what it has
// read again, and what is recorded. With --cri-socket, each process that records has a child that
// asks the container runtime (cri/runtime_names.h).
//
// The first process also records on request of the server, each recording in a process of its own
// (recordings.h). The recorder has the privileges of recorders, the importer can read files, and
// the server has open sockets and nothing else. The pusher connects to the receiver of --otlp or
// --push; it runs only with one of them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/recorder_options.h"
#include "tools/common/cli/console.h"
#include "tools/serve/access.h"
#include "tools/serve/channels/channel.h"
#include "tools/serve/channels/record_command.h"
#include "tools/serve/command_line.h"
#include "tools/serve/push/push_counts.h"
#include "tools/serve/push/push_target.h"

namespace perftape::serve {

// What SIGTERM does to a process. Those that end when their channel does ignore it: it may be sent
// to all, and what is on its way should arrive.
enum class Sigterm : std::uint8_t { kEnds, kIsIgnored };

// Forks a process that returns the exit status of `run`. It is killed if this process ends.
Result<pid_t> StartProcess(const char* name, Sigterm sigterm, const std::function<int()>& run);

// The recorder: writes windows to files in `directory` and sends their paths to `files`. Sends a
// byte to `started` when all events are recorded.
struct RecorderParts {
  UniqueFd files, started;
};
int RunRecorder(const ServeRun& run, record::SwitchRequest& cut,
                const std::filesystem::path& directory, RecorderParts parts, cli::Console& console);
// Records for a moment into `file`, to find out whether the options can be recorded here.
int RunTrial(const ServeRun& run, const std::filesystem::path& file, cli::Console& console);
// A recording of its own, with symbols, in `file`.
int RunOneRecording(const ServeRun& run, const RecordCommand& command,
                    const std::filesystem::path& file, cli::Console& console);
// The importer: sends the windows of the files to `windows`, and what is pushed to `payloads`,
// until the last sender of files is closed.
struct ImporterParts {
  UniqueFd files, windows;
  UniqueFd payloads = {};             // empty: nothing is pushed
  PushCounts* push_counts = nullptr;  // null: the same
};
int RunImporter(const ServeRun& run, const std::filesystem::path& directory, ImporterParts parts,
                cli::Console& console);
// The pusher: sends the payloads to the receiver, until their sender is closed; then what is left,
// for some seconds. New secrets come as notices.
struct PusherParts {
  UniqueFd payloads, notices;
  PushSecrets secrets = {};
  PushCounts* counts = nullptr;
};
int RunPusher(const ServeRun& run, PusherParts parts, cli::Console& console);
// The server: answers at the sockets, until the last sender of windows is closed.
struct ServerParts {
  std::vector<UniqueFd> sockets = {};
  std::vector<ListenAddress> addresses;
  std::string token;
  UniqueFd windows = {};
  UniqueFd history = {};                    // of HistoryFile
  UniqueFd recordings = {};                 // of RecordingClient, and of notices
  const PushCounts* push_counts = nullptr;  // null: nothing is pushed
};
int RunServer(const ServeRun& run, ServerParts parts, record::SwitchRequest& cut,
              cli::Console& console);

}  // namespace perftape::serve
