// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/recordings.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/serve/processes.h"

namespace perftape::serve {
namespace {

constexpr std::string_view kRecordingName = "perf.data";

}  // namespace

RecordingClient::RecordingClient(UniqueFd channel, std::function<void(Notice&)> other_notices)
    : channel_(std::move(channel)),
      other_notices_(std::move(other_notices)),
      thread_([this] { ReadNotices(); }) {}

RecordingClient::~RecordingClient() {
  (void)shutdown(channel_.get(), SHUT_RDWR);
  thread_.join();
}

Result<std::uint64_t> RecordingClient::Record(RecordCommand command, Callback callback) {
  const std::lock_guard lock(mutex_);
  if (callbacks_.size() >= kMostRecordings) {
    return Fail(ErrorCode::kUnsupported, "two recordings are already running: try again later");
  }
  command.id = next_id_++;
  TRY(SendCommand(channel_.get(), command));
  callbacks_.emplace(command.id, std::move(callback));
  return command.id;
}

void RecordingClient::End(std::uint64_t id) {
  // If it cannot be sent, the recording runs for its time.
  (void)SendCommand(channel_.get(), {.id = id, .kind = RecordCommand::Kind::kEnd});
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
                                 std::function<void()> close_others, cli::Console& console)
    : run_(run), directory_(directory), close_others_(std::move(close_others)), console_(console) {}

// The new server has no command with the id 0.
void RecordingServer::Connect(UniqueFd channel) {
  for (auto& [pid, id] : running_) {
    (void)kill(pid, SIGKILL);
    std::error_code ignored;
    std::filesystem::remove_all(DirectoryOf(std::exchange(id, 0)), ignored);
  }
  channel_ = std::move(channel);
}

// The file may have another name before it is complete.
std::filesystem::path RecordingServer::DirectoryOf(std::uint64_t id) const {
  return directory_ / ("recording." + std::to_string(id));
}

void RecordingServer::AcceptCommand() {
  const std::optional<RecordCommand> command = ReceiveCommand(channel_.get());
  if (!command) return channel_.Reset();
  if (command->kind == RecordCommand::Kind::kEnd) return End(command->id);
  const auto longest = std::chrono::nanoseconds(kLongestRecording).count();
  const bool is_good =
      command->duration_ns > 0 && command->duration_ns <= static_cast<std::uint64_t>(longest) &&
      command->frequency_hz <= kHighestFrequencyHz &&
      (command->event == RecordCommand::kAllEvents || command->event < run_.events.size()) &&
      running_.size() < kMostRecordings;
  if (is_good) {
    const Result<pid_t> pid = Begin(*command);
    if (pid) {
      running_.emplace(*pid, command->id);
      return;
    }
    console_.Warning(pid.error().message);
  }
  (void)SendNotice(channel_.get(), {.id = command->id});
}

Result<pid_t> RecordingServer::Begin(const RecordCommand& command) {
  const std::filesystem::path directory = DirectoryOf(command.id);
  if (mkdir(directory.c_str(), S_IRWXU) != 0) return FailErrno(directory.native(), errno);
  return StartProcess("perftape-once", Sigterm::kEnds, [&] {
    channel_.Reset();
    close_others_();
    return RunOneRecording(run_, command, directory / kRecordingName, console_);
  });
}

// Nothing of it is wanted, so it need not complete its file.
void RecordingServer::End(std::uint64_t id) const {
  for (const auto& [pid, of_command] : running_) {
    if (of_command == id) (void)kill(pid, SIGKILL);
  }
}

bool RecordingServer::HasEnded(pid_t pid, bool is_good) {
  const auto found = running_.find(pid);
  if (found == running_.end()) return false;
  Notice reply = {.id = found->second};
  running_.erase(found);
  const std::filesystem::path directory = DirectoryOf(reply.id);
  const std::filesystem::path file = directory / kRecordingName;
  if (is_good) reply.file = UniqueFd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  if (!channel_) return true;
  if (const Status sent = SendNotice(channel_.get(), reply); !sent)
    console_.Warning(sent.error().message);
  return true;
}

void RecordingServer::EndAll() {
  for (const auto& [pid, id] : running_) (void)kill(pid, SIGTERM);
}

}  // namespace perftape::serve
