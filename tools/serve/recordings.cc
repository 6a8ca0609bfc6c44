// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/recordings.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "tools/serve/processes.h"

namespace perftape::serve {

RecordingClient::RecordingClient(UniqueFd channel, std::function<void(const Notice&)> other_notices)
    : channel_(std::move(channel)),
      other_notices_(std::move(other_notices)),
      thread_([this] { ReadNotices(); }) {}

RecordingClient::~RecordingClient() {
  (void)shutdown(channel_.get(), SHUT_RDWR);
  thread_.join();
}

Status RecordingClient::Record(RecordCommand command, Callback callback) {
  const std::lock_guard lock(mutex_);
  if (callbacks_.size() >= kMostRecordings) {
    return Fail(ErrorCode::kUnsupported, "there are two recordings already: try again later");
  }
  command.id = next_id_++;
  TRY(SendCommand(channel_.get(), command));
  callbacks_.emplace(command.id, std::move(callback));
  return {};
}

void RecordingClient::ReadNotices() {
  while (std::optional<Notice> notice = ReceiveNotice(channel_.get())) {
    if (notice->kind != Notice::Kind::kRecording) {
      other_notices_(*notice);
      continue;
    }
    Callback callback;
    {
      const std::lock_guard lock(mutex_);
      const auto found = callbacks_.find(notice->id);
      if (found == callbacks_.end()) continue;
      callback = std::move(found->second);
      callbacks_.erase(found);
    }
    callback(std::move(notice->file));
  }
}

RecordingServer::RecordingServer(const ServeRun& run, const std::filesystem::path& directory,
                                 UniqueFd channel, cli::Console& console)
    : run_(run), directory_(directory), channel_(std::move(channel)), console_(console) {}

std::filesystem::path RecordingServer::PathOf(std::uint64_t id) const {
  return directory_ / ("recording." + std::to_string(id));
}

void RecordingServer::AcceptCommand() {
  const std::optional<RecordCommand> command = ReceiveCommand(channel_.get());
  if (!command) return channel_.Reset();
  const auto longest = std::chrono::nanoseconds(kLongestRecording).count();
  const bool is_good =
      command->duration_ns > 0 && command->duration_ns <= static_cast<std::uint64_t>(longest) &&
      command->frequency_hz <= kHighestFrequencyHz &&
      (command->event == RecordCommand::kAllEvents || command->event < run_.events.size()) &&
      running_.size() < kMostRecordings;
  if (is_good) {
    const Result<pid_t> pid = StartProcess("perftape-once", Sigterm::kEnds, [&] {
      channel_.Reset();
      return RunOneRecording(run_, *command, PathOf(command->id), console_);
    });
    if (pid) {
      running_.emplace(*pid, command->id);
      return;
    }
    console_.Warning(pid.error().message);
  }
  (void)SendNotice(channel_.get(), {.id = command->id});
}

bool RecordingServer::HasEnded(pid_t pid, bool is_good) {
  const auto found = running_.find(pid);
  if (found == running_.end()) return false;
  Notice reply = {.id = found->second};
  running_.erase(found);
  const std::filesystem::path path = PathOf(reply.id);
  if (is_good) reply.file = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  (void)unlink(path.c_str());
  if (!channel_) return true;
  if (const Status sent = SendNotice(channel_.get(), reply); !sent)
    console_.Warning(sent.error().message);
  return true;
}

void RecordingServer::EndAll() {
  for (const auto& [pid, id] : running_) (void)kill(pid, SIGTERM);
}

}  // namespace perftape::serve
