// SPDX-License-Identifier: Apache-2.0
// Files as the tools need them: an input that is mapped whole, and a descriptor that closes itself.
// Outputs are in output_file.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/base/truncation.h"

namespace perftape {
inline namespace base {

// The number of bytes of one read or write, where a file is not mapped.
inline constexpr std::size_t kIoSize = std::size_t{64} << 10;

// A file descriptor with one owner. -1 means that there is none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release();
  void Reset();

 private:
  int fd_ = -1;
};

// A second descriptor of the file that `fd` has open, with the same offset. On failure it is empty,
// and errno is set.
UniqueFd Duplicate(int fd);

// Writes all of `bytes` to `fd`. Continues after short writes and EINTR. Fails with kIo, also if
// the kernel writes nothing.
Status WriteAll(int fd, Bytes bytes);
// The same, at an offset of a seekable file.
Status WriteAllAt(int fd, Bytes bytes, std::uint64_t offset);

// Creates a file without a name in $TMPDIR, in memory if there is no /tmp. Freed when it is closed.
Result<UniqueFd> CreateUnlinked();

// Reads the whole file at `path`. It may be in /proc or /sys, where sizes are not known. Returns
// kCorrupt if there are more than `limit` bytes.
Result<std::string> ReadWholeFile(const std::filesystem::path& path,
                                  std::uint64_t limit = std::uint64_t{256} << 20);

// An input file, mapped read-only. Views of its bytes live as long as the MappedFile. If another
// process cuts off the end of the file meanwhile, the missing bytes are read as zeros.
class MappedFile {
 public:
  // Maps an open input, from its current offset on. An input that cannot be mapped (a pipe, a
  // terminal, a file in /proc) is first copied into an unlinked file in $TMPDIR. `fd` may be closed
  // afterwards. `name` is for messages. Returns kIo for a directory.
  static Result<MappedFile> FromInput(int fd, std::string_view name);
  // Maps all of the regular file that `fd` refers to. `fd` may be closed afterwards.
  static Result<MappedFile> FromFd(int fd, std::string_view name);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  Bytes bytes() const { return bytes_; }
  // Whether bytes were read that another process had cut off.
  bool was_truncated() const { return guard_.was_truncated(); }

 private:
  MappedFile(Bytes bytes, std::string_view name) : bytes_(bytes), guard_(bytes, name) {}
  Bytes bytes_;
  TruncationGuard guard_;
};

// Opens `path`, which another process chose, below `root` with O_PATH, so that no device acts on
// it. A link to a directory, or "..", does not lead out of `root`; a link at the end of the path is
// not followed. Empty, with errno, if there is no such file.
UniqueFd OpenPathWithin(const std::filesystem::path& root, std::string_view path);

}  // namespace base
}  // namespace perftape
