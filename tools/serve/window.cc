// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/window.h"

#include <sys/mman.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "tools/serve/channels/message_header.h"

namespace perftape::serve {
namespace {

struct WindowHeader {
  static constexpr std::uint64_t kMagic = 0x776f646e69777470;
  std::uint64_t notes_bytes = 0, profile_bytes = 0;
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t recorder_cpu_ns = 0, importer_cpu_ns = 0;
  std::uint64_t failed_windows = 0;
};

constexpr const char* kWindowName = "windows";
constexpr std::string_view kIsWrong = "windows: the file of a window is wrong";

std::unexpected<Error> IsWrong() {
  return Fail(ErrorCode::kCorrupt, std::string(kIsWrong));
}

}  // namespace

Status SendWindow(int channel, const ImportedWindow& window) {
  const std::string notes = bundle::EncodeNotes(window.notes);
  const WindowHeader header = {.notes_bytes = notes.size(),
                               .profile_bytes = window.window.profile.size(),
                               .start_ns = window.window.start_ns,
                               .end_ns = window.window.end_ns,
                               .recorder_cpu_ns = window.recorder_cpu_ns,
                               .importer_cpu_ns = window.importer_cpu_ns,
                               .failed_windows = window.failed_windows};
  const Notice notice = {.kind = Notice::Kind::kWindow,
                         .file = UniqueFd(memfd_create("window", MFD_CLOEXEC))};
  if (!notice.file) return FailErrno(kWindowName, errno);
  TRY(WriteHeader(notice.file.get(), header));
  TRY(WriteAll(notice.file.get(), AsBytes(notes)));
  TRY(WriteAll(notice.file.get(), window.window.profile));
  return SendNotice(channel, notice, Waiting::kYes);
}

Result<ImportedWindow> WindowIn(const Notice& notice) {
  if (notice.kind != Notice::Kind::kWindow) return IsWrong();
  TRY_ASSIGN(const MappedFile file, MappedFile::FromFd(notice.file.get(), kWindowName));
  Bytes rest = file.bytes();
  TRY_ASSIGN(const std::optional<WindowHeader> header, ReadHeader<WindowHeader>(rest, kIsWrong));
  if (!header || header->notes_bytes > rest.size() ||
      header->profile_bytes != rest.size() - header->notes_bytes) {
    return IsWrong();
  }
  const Bytes profile = rest.subspan(header->notes_bytes);
  ImportedWindow window = {.window = {.start_ns = header->start_ns,
                                      .end_ns = header->end_ns,
                                      .profile = {profile.begin(), profile.end()}},
                           .recorder_cpu_ns = header->recorder_cpu_ns,
                           .importer_cpu_ns = header->importer_cpu_ns,
                           .failed_windows = header->failed_windows};
  TRY_ASSIGN(window.notes, bundle::DecodeNotes(AsText(rest.first(header->notes_bytes))));
  return window;
}

}  // namespace perftape::serve
