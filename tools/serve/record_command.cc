// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/record_command.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace perftape::serve {
namespace {

constexpr int kFlags = MSG_NOSIGNAL;

}  // namespace

Status SendCommand(int channel, const RecordCommand& command) {
  if (send(channel, &command, sizeof command, kFlags | MSG_DONTWAIT) == sizeof command) return {};
  return FailErrno("the channel of recordings", errno);
}

std::optional<RecordCommand> ReceiveCommand(int channel) {
  while (true) {
    RecordCommand command;
    const ssize_t size = recv(channel, &command, sizeof command, MSG_TRUNC);
    if (size == sizeof command) return command;
    if (size == 0 || (size < 0 && errno != EINTR)) return std::nullopt;
  }
}

Status SendReply(int channel, const RecordReply& reply) {
  std::uint64_t id = reply.id;
  iovec part = {.iov_base = &id, .iov_len = sizeof id};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (reply.file) {
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = reply.file.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  if (sendmsg(channel, &message, kFlags | MSG_DONTWAIT) == sizeof id) return {};
  return FailErrno("the channel of recordings", errno);
}

std::optional<RecordReply> ReceiveReply(int channel) {
  while (true) {
    std::uint64_t id = 0;
    iovec part = {.iov_base = &id, .iov_len = sizeof id};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
    const ssize_t size = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    RecordReply reply = {.id = id};
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      reply.file = UniqueFd(fd);
    }
    if (size == sizeof id) return reply;
  }
}

}  // namespace perftape::serve
