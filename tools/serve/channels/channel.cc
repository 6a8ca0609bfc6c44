// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/channels/channel.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace perftape::serve {
namespace {

// Room for one descriptor.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Result<Channel> MakeChannel(ChannelKind kind) {
  int ends[2] = {};
  const int type = kind == ChannelKind::kMessages ? SOCK_SEQPACKET : SOCK_STREAM;
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, &ends[0]) != 0)
    return FailErrno("a channel between processes", errno);
  return Channel{.sender = UniqueFd(ends[0]), .receiver = UniqueFd(ends[1])};
}

ssize_t SendMessage(int channel, Bytes message, int file, Waiting waiting) {
  iovec part = {.iov_base = const_cast<std::byte*>(message.data()), .iov_len = message.size()};
  Control control = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (file >= 0) {
    header.msg_control = &control;
    header.msg_controllen = sizeof control.bytes;
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  }
  const int flags = MSG_NOSIGNAL | (waiting == Waiting::kNo ? MSG_DONTWAIT : 0);
  ssize_t size = 0;
  do {
    size = sendmsg(channel, &header, flags);
  } while (size < 0 && errno == EINTR);
  return size;
}

ssize_t ReceiveMessage(int channel, std::span<std::byte> message, UniqueFd& file) {
  file.Reset();
  iovec part = {.iov_base = message.data(), .iov_len = message.size()};
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
  if (size < 0) return size;
  if (const cmsghdr* const passed = CMSG_FIRSTHDR(&header);
      passed != nullptr && passed->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(passed), sizeof fd);
    file = UniqueFd(fd);
  }
  return size;
}

}  // namespace perftape::serve
