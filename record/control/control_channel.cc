// SPDX-License-Identifier: Apache-2.0
#include "record/control/control_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <optional>
#include <utility>

#include "formats/base/text.h"

namespace perftape::record {
namespace {

// The longest command that makes sense names an event of a probe.
constexpr std::size_t kMostCommandBytes = 1024;
// Of one Read. So a flood of commands does not keep the recorder from its rings.
constexpr std::size_t kMostReadBytes = 1024;
constexpr std::size_t kMostQuotedBytes = 40;

struct VerbRow {
  std::string_view word;
  ControlVerb verb;
  bool takes_argument = false;
};

constexpr VerbRow kVerbs[] = {
    {"enable", ControlVerb::kEnable, true},
    {"disable", ControlVerb::kDisable, true},
    {"evlist", ControlVerb::kListEvents, true},
    {"snapshot", ControlVerb::kSnapshot},
    {"stop", ControlVerb::kStop},
    {"ping", ControlVerb::kPing},
};

Status CheckKind(int fd, const std::string& name) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return FailErrno(name, errno);
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return {};
  return Fail(ErrorCode::kInvalidArgument, name + ": is neither a FIFO nor a socket");
}

Result<UniqueFd> OpenFifo(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return FailErrno(path, errno);
  TRY(CheckKind(fd.get(), path));
  return fd;
}

Result<UniqueFd> AdoptDescriptor(int number) {
  const std::string name = "descriptor " + std::to_string(number);
  UniqueFd fd = Duplicate(number);
  if (!fd) return FailErrno(name, errno);
  TRY(CheckKind(fd.get(), name));
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags < 0 || fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) < 0) return FailErrno(name, errno);
  return fd;
}

Result<UniqueFd> OpenEnd(const ControlSpec& spec, std::string ControlFifos::*path,
                         int ControlDescriptors::*descriptor) {
  if (const auto* fifos = std::get_if<ControlFifos>(&spec)) {
    return (fifos->*path).empty() ? UniqueFd() : OpenFifo(fifos->*path);
  }
  const int number = std::get<ControlDescriptors>(spec).*descriptor;
  return number < 0 ? UniqueFd() : AdoptDescriptor(number);
}

// Writes to a pipe. If its reader is gone, the kernel sends SIGPIPE to this thread, which would end
// the recorder.
ssize_t WriteWithoutSignal(int fd, std::string_view bytes) {
  sigset_t pipe_signal, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = write(fd, bytes.data(), bytes.size());
  if (written < 0 && errno == EPIPE) {
    constexpr timespec kNoWait = {};
    (void)sigtimedwait(&pipe_signal, nullptr, &kNoWait);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

bool Send(int fd, std::string_view bytes) {
  ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno == ENOTSOCK) sent = WriteWithoutSignal(fd, bytes);
  return sent == static_cast<ssize_t>(bytes.size());
}

}  // namespace

std::optional<ControlCommand> ParseControlCommand(std::string_view text) {
  const std::string_view command = Trimmed(text);
  const std::size_t blank = std::min(command.find_first_of(" \t"), command.size());
  const auto row = std::ranges::find(kVerbs, command.substr(0, blank), &VerbRow::word);
  if (row == std::end(kVerbs)) return std::nullopt;
  const std::string_view argument = Trimmed(command.substr(blank));
  if (!argument.empty() && !row->takes_argument) return std::nullopt;
  return ControlCommand{.verb = row->verb, .argument = std::string(argument)};
}

Result<ControlChannel> ControlChannel::Open(const ControlSpec& spec) {
  TRY_ASSIGN(UniqueFd commands,
             OpenEnd(spec, &ControlFifos::commands, &ControlDescriptors::commands));
  TRY_ASSIGN(UniqueFd acknowledgements,
             OpenEnd(spec, &ControlFifos::acknowledgements, &ControlDescriptors::acknowledgements));
  return ControlChannel(std::move(commands), std::move(acknowledgements));
}

std::vector<ControlCommand> ControlChannel::Read() {
  std::vector<ControlCommand> arrived;
  if (failures_.is_closed) return arrived;
  char bytes[kMostReadBytes];
  std::size_t size = 0;
  has_more_ = false;
  while (size < sizeof bytes) {
    const ssize_t received = read(commands_.get(), bytes + size, sizeof bytes - size);
    if (received > 0) {
      size += static_cast<std::size_t>(received);
      continue;
    }
    if (received < 0 && errno == EINTR) continue;
    failures_.is_closed = received == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    break;
  }
  has_more_ = size == sizeof bytes;
  for (std::size_t i = 0; i < size; ++i) Add(bytes[i], arrived);
  if (!has_more_) EndCommand(arrived);
  return arrived;
}

void ControlChannel::Add(char byte, std::vector<ControlCommand>& arrived) {
  if (byte == '\n' || byte == '\0') return EndCommand(arrived);
  if (pending_.size() < kMostCommandBytes) {
    pending_ += byte;
  } else {
    is_too_long_ = true;
  }
}

void ControlChannel::EndCommand(std::vector<ControlCommand>& arrived) {
  const std::string text = std::exchange(pending_, {});
  const bool is_too_long = std::exchange(is_too_long_, false);
  if (Trimmed(text).empty()) return;
  std::optional<ControlCommand> command = is_too_long ? std::nullopt : ParseControlCommand(text);
  if (command) return arrived.push_back(*std::move(command));
  if (failures_.unknown++ == 0) failures_.first_unknown = text.substr(0, kMostQuotedBytes);
}

void ControlChannel::Acknowledge() {
  if (!acknowledgements_) return;
  constexpr std::string_view kAck("ack\n\0", 5);
  if (!Send(acknowledgements_.get(), kAck)) ++failures_.unanswered;
}

}  // namespace perftape::record
