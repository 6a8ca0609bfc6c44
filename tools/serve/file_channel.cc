// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/file_channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "record/machine/clock.h"

namespace perftape::serve {
namespace {

constexpr std::size_t kHead = offsetof(FileMessage, path);

// Room for one descriptor.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

FileMessage MessageOf(FileMessage::Kind kind, std::string_view path) {
  FileMessage message = {.kind = kind, .recorder_cpu_ns = record::SystemClock().CpuNs()};
  std::memcpy(&message.path[0], path.data(), std::min(path.size(), sizeof message.path - 1));
  return message;
}

}  // namespace

void FileSender::SendRecording(const std::filesystem::path& file) {
  if (waiting_.size() >= kMostWaiting) {
    ++failed_files_;
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    return;
  }
  Send({.message = MessageOf(FileMessage::Kind::kRecording, file.native())});
}

// Without the file, the importer searches for the path.
void FileSender::SendBinary(std::string_view path, const BuildId& build_id, int file) {
  if (waiting_.size() >= kMostWaiting) return;
  UniqueFd copy(fcntl(file, F_DUPFD_CLOEXEC, 0));
  if (!copy) return;
  Waiting waiting = {.message = MessageOf(FileMessage::Kind::kBinary, path),
                     .file = std::move(copy)};
  waiting.message.build_id = build_id;
  Send(std::move(waiting));
}

void FileSender::Send(Waiting message) {
  message.message.failed_files = failed_files_;
  waiting_.push_back(std::move(message));
  while (!waiting_.empty() && SendNow(waiting_.front(), Wait::kNo)) waiting_.pop_front();
}

void FileSender::Finish() {
  while (!waiting_.empty() && SendNow(waiting_.front(), Wait::kYes)) waiting_.pop_front();
}

bool FileSender::SendNow(const Waiting& waiting, Wait wait) {
  return SendTo(channel_.get(), waiting, wait);
}

Status SendPayloadChannel(int channel, const UniqueFd& payloads) {
  FileSender::Waiting waiting = {.message = MessageOf(FileMessage::Kind::kPayloads, ""),
                                 .file = Duplicate(payloads.get())};
  if (waiting.file && FileSender::SendTo(channel, waiting, FileSender::Wait::kNo)) return {};
  return FailErrno("a channel of pushes", errno);
}

bool FileSender::SendTo(int channel, const Waiting& waiting, Wait wait) {
  const FileMessage& message = waiting.message;
  iovec part = {.iov_base = const_cast<FileMessage*>(&message),
                .iov_len = kHead + std::strlen(&message.path[0]) + 1};
  Control control = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (waiting.file) {
    header.msg_control = &control;
    header.msg_controllen = sizeof control.bytes;
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = waiting.file.get();
    std::memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  }
  const int flags = MSG_NOSIGNAL | (wait == Wait::kNo ? MSG_DONTWAIT : 0);
  ssize_t size = 0;
  do {
    size = sendmsg(channel, &header, flags);
  } while (size < 0 && errno == EINTR);
  return size >= 0;
}

bool Receive(int channel, FileMessage& message, UniqueFd& file) {
  file.Reset();
  iovec part = {.iov_base = &message, .iov_len = sizeof message - 1};
  Control control = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = &control;
  header.msg_controllen = sizeof control.bytes;
  ssize_t size = 0;
  do {
    size = recvmsg(channel, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= static_cast<ssize_t>(kHead)) return false;
  reinterpret_cast<char*>(&message)[size] = '\0';
  if (const cmsghdr* const passed = CMSG_FIRSTHDR(&header);
      passed != nullptr && passed->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(passed), sizeof fd);
    file = UniqueFd(fd);
  }
  return true;
}

}  // namespace perftape::serve
