// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/notice.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "formats/base/bytes.h"

namespace perftape::serve {
namespace {

constexpr std::string_view kName = "a channel of notices";

// What is sent beside the file. Both ends are the same program.
struct Head {
  Notice::Kind kind = Notice::Kind::kRecording;
  std::uint32_t unused = 0;
  std::uint64_t id = 0;
};

}  // namespace

Status SendNotice(int channel, const Notice& notice, Waiting waiting) {
  Head head = {.kind = notice.kind, .id = notice.id};
  iovec part = {.iov_base = &head, .iov_len = sizeof head};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (notice.file) {
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = notice.file.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  const int flags = MSG_NOSIGNAL | (waiting == Waiting::kNo ? MSG_DONTWAIT : 0);
  ssize_t size = 0;
  do {
    size = sendmsg(channel, &message, flags);
  } while (size < 0 && errno == EINTR);
  if (size == sizeof head) return {};
  return FailErrno(kName, errno);
}

Status SendText(int channel, Notice::Kind kind, std::string_view text, std::uint64_t id) {
  const Notice notice = {
      .kind = kind, .id = id, .file = UniqueFd(memfd_create("notice", MFD_CLOEXEC))};
  if (!notice.file) return FailErrno(kName, errno);
  TRY(WriteAll(notice.file.get(), AsBytes(text)));
  return SendNotice(channel, notice);
}

std::optional<Notice> ReceiveNotice(int channel) {
  while (true) {
    Head head;
    iovec part = {.iov_base = &head, .iov_len = sizeof head};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control[0];
    message.msg_controllen = sizeof control;
    const ssize_t size = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    Notice notice = {.kind = head.kind, .id = head.id};
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      notice.file = UniqueFd(fd);
    }
    if (size == sizeof head) return notice;
  }
}

Result<std::string> TextOf(const Notice& notice) {
  TRY_ASSIGN(const MappedFile mapped, MappedFile::FromFd(notice.file.get(), kName));
  return std::string(AsText(mapped.bytes()));
}

}  // namespace perftape::serve
