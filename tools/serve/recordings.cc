// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/recordings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/text.h"
#include "tools/serve/processes.h"

namespace perftape::serve {

namespace {

std::vector<std::string> LinesOf(const UniqueFd& file) {
  std::vector<std::string> lines;
  const Result<MappedFile> mapped = MappedFile::FromFd(file.get(), "events");
  if (!mapped) return lines;
  std::string_view text = AsText(mapped->bytes());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines.emplace_back(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return lines;
}

}  // namespace

RecordingClient::RecordingClient(UniqueFd channel,
                                 std::function<void(std::vector<std::string>)> new_events)
    : channel_(std::move(channel)),
      new_events_(std::move(new_events)),
      thread_([this] { ReadReplies(); }) {}

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

void RecordingClient::ReadReplies() {
  while (std::optional<RecordReply> reply = ReceiveReply(channel_.get())) {
    if (reply->id == RecordReply::kNewEvents) {
      new_events_(LinesOf(reply->file));
      continue;
    }
    Callback callback;
    {
      const std::lock_guard lock(mutex_);
      const auto found = callbacks_.find(reply->id);
      if (found == callbacks_.end()) continue;
      callback = std::move(found->second);
      callbacks_.erase(found);
    }
    callback(std::move(reply->file));
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
  (void)SendReply(channel_.get(), {.id = command->id});
}

bool RecordingServer::HasEnded(pid_t pid, bool is_good) {
  const auto found = running_.find(pid);
  if (found == running_.end()) return false;
  RecordReply reply = {.id = found->second};
  running_.erase(found);
  const std::filesystem::path path = PathOf(reply.id);
  if (is_good) reply.file = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  (void)unlink(path.c_str());
  if (!channel_) return true;
  if (const Status sent = SendReply(channel_.get(), reply); !sent)
    console_.Warning(sent.error().message);
  return true;
}

Status RecordingServer::SendEvents() {
  RecordReply message = {.id = RecordReply::kNewEvents,
                         .file = UniqueFd(memfd_create("events", MFD_CLOEXEC))};
  if (!message.file) return FailErrno("events", errno);
  TRY(WriteAll(message.file.get(), AsBytes(Joined(run_.events, "\n"))));
  return SendReply(channel_.get(), message);
}

void RecordingServer::EndAll() {
  for (const auto& [pid, id] : running_) (void)kill(pid, SIGTERM);
}

}  // namespace perftape::serve
