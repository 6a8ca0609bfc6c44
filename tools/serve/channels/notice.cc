// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/channels/notice.h"

#include <sys/mman.h>

#include <cerrno>
#include <span>
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
  const Head head = {.kind = notice.kind, .id = notice.id};
  const Bytes message = std::as_bytes(std::span(&head, 1));
  if (SendMessage(channel, message, notice.file.get(), waiting) == sizeof head) return {};
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
    UniqueFd file;
    const ssize_t size = ReceiveMessage(channel, std::as_writable_bytes(std::span(&head, 1)), file);
    if (size <= 0) return std::nullopt;
    if (size == sizeof head)
      return Notice{.kind = head.kind, .id = head.id, .file = std::move(file)};
  }
}

Result<std::string> TextOf(const Notice& notice) {
  TRY_ASSIGN(const MappedFile mapped, MappedFile::FromFd(notice.file.get(), kName));
  return std::string(AsText(mapped.bytes()));
}

}  // namespace perftape::serve
