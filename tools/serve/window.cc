// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/window.h"

#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/file.h"

namespace perftape::serve {
namespace {

// Both ends are the same program.
struct Header {
  static constexpr std::uint64_t kMagic = 0x776f646e69777470;
  std::uint64_t magic = kMagic;
  std::uint64_t notes_bytes = 0, profile_bytes = 0;
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t recorder_cpu_ns = 0, importer_cpu_ns = 0;
  std::uint64_t failed_windows = 0;
};

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;  // of notes, of a profile

// Returns how many bytes there were before the end of the stream.
Result<std::size_t> ReadAll(int fd, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t size = read(fd, into.data() + done, into.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FailErrno("windows", errno);
    if (size == 0) break;
    done += static_cast<std::size_t>(size);
  }
  return done;
}

std::unexpected<Error> EndsInside() {
  return Fail(ErrorCode::kCorrupt, "windows: the stream ends inside a window");
}

Status ReadExactly(int fd, std::span<std::byte> into) {
  TRY_ASSIGN(const std::size_t size, ReadAll(fd, into));
  if (size != into.size()) return EndsInside();
  return {};
}

}  // namespace

Status WriteWindow(int fd, const ImportedWindow& window) {
  const std::string notes = bundle::EncodeNotes(window.notes);
  const Header header = {.notes_bytes = notes.size(),
                         .profile_bytes = window.window.profile.size(),
                         .start_ns = window.window.start_ns,
                         .end_ns = window.window.end_ns,
                         .recorder_cpu_ns = window.recorder_cpu_ns,
                         .importer_cpu_ns = window.importer_cpu_ns,
                         .failed_windows = window.failed_windows};
  TRY(WriteAll(fd, std::as_bytes(std::span(&header, 1))));
  TRY(WriteAll(fd, AsBytes(notes)));
  return WriteAll(fd, window.window.profile);
}

Result<std::optional<ImportedWindow>> ReadWindow(int fd) {
  Header header;
  TRY_ASSIGN(const std::size_t size, ReadAll(fd, std::as_writable_bytes(std::span(&header, 1))));
  if (size == 0) return std::nullopt;
  if (size != sizeof header) return EndsInside();
  if (header.magic != Header::kMagic || header.notes_bytes > kMostBytes ||
      header.profile_bytes > kMostBytes) {
    return Fail(ErrorCode::kCorrupt, "windows: the header of a window is wrong");
  }
  ImportedWindow window = {.window = {.start_ns = header.start_ns, .end_ns = header.end_ns},
                           .recorder_cpu_ns = header.recorder_cpu_ns,
                           .importer_cpu_ns = header.importer_cpu_ns,
                           .failed_windows = header.failed_windows};
  std::string notes(header.notes_bytes, '\0');
  TRY(ReadExactly(fd, std::as_writable_bytes(std::span(notes))));
  TRY_ASSIGN(window.notes, bundle::DecodeNotes(notes));
  window.window.profile.resize(header.profile_bytes);
  TRY(ReadExactly(fd, window.window.profile));
  return window;
}

}  // namespace perftape::serve
