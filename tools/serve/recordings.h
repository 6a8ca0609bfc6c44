// SPDX-License-Identifier: Apache-2.0
// Both ends of recordings on request: the server asks, the first process records.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#include "formats/base/file.h"
#include "tools/common/cli/console.h"
#include "tools/serve/channels/notice.h"
#include "tools/serve/channels/record_command.h"
#include "tools/serve/command_line.h"

namespace perftape::serve {

// The end of the server. Thread-safe.
class RecordingClient {
 public:
  using Callback = std::function<void(UniqueFd file)>;  // no file if it failed

  // `other_notices` is called in a thread with each notice that is not about a recording.
  RecordingClient(UniqueFd channel, std::function<void(Notice&)> other_notices);
  RecordingClient(const RecordingClient&) = delete;
  RecordingClient& operator=(const RecordingClient&) = delete;
  // Forgets the recordings that have not ended.
  ~RecordingClient();

  // Calls `callback` in a thread when the recording has ended. Returns its id. Fails with kIo, and
  // with kUnsupported if there are too many at once.
  Result<std::uint64_t> Record(RecordCommand command, Callback callback);
  // Ends a recording, if it still runs: its callback gets no file.
  void End(std::uint64_t id);

 private:
  void ReadNotices();

  UniqueFd channel_;
  std::function<void(Notice&)> other_notices_;
  std::mutex mutex_;  // of what follows
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Callback> callbacks_;
  std::thread thread_;
};

// How many recordings there are at once.
inline constexpr std::size_t kMostRecordings = 2;

// The end of the first process. Each recording is a process.
class RecordingServer {
 public:
  // All must outlive this object. `close_others` closes, in a process of a recording, what is open
  // for other processes.
  RecordingServer(const ServeRun& run, const std::filesystem::path& directory,
                  std::function<void()> close_others, cli::Console& console);

  // A server begins at the other end of `channel`. Ends the recordings of the one before.
  void Connect(UniqueFd channel);

  // Readable if there is a command; -1 after the server has ended.
  int poll_fd() const { return channel_.get(); }
  void AcceptCommand();
  // In another process.
  void CloseChannel() { channel_.Reset(); }
  // Sends the file if the process was a recording. Returns whether it was one.
  bool HasEnded(pid_t pid, bool is_good);
  // Sends a file, none or a text to the server. Fail with kIo.
  Status Send(const Notice& notice) { return SendNotice(channel_.get(), notice); }
  Status Send(Notice::Kind kind, std::string_view text, std::uint64_t id = 0) {
    return SendText(channel_.get(), kind, text, id);
  }
  // Ends all recordings.
  void EndAll();
  bool empty() const { return running_.empty(); }

 private:
  std::filesystem::path DirectoryOf(std::uint64_t id) const;
  Result<pid_t> Begin(const RecordCommand& command);
  void End(std::uint64_t id) const;

  const ServeRun& run_;
  const std::filesystem::path& directory_;
  std::function<void()> close_others_;
  UniqueFd channel_;
  cli::Console& console_;
  std::map<pid_t, std::uint64_t> running_;  // ids of commands
};

}  // namespace perftape::serve
