// SPDX-License-Identifier: Apache-2.0
#include "formats/base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace perftape {
inline namespace base {
namespace {

// O_NONBLOCK: a lease of another process must not block the open.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Result<struct stat> StatRegular(int fd, std::string_view name) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return FailErrno(name, errno);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kUnsupported, std::string(name) + ": not a regular file");
  }
  return status;
}

// Without /proc a descriptor cannot be reopened, only the path. That may name another file by now.
Result<UniqueFd> OpenByPath(const std::filesystem::path& path, const struct stat& expected) {
  UniqueFd fd(open(path.c_str(), kReadFlags));
  if (!fd) return FailErrno(path.native(), errno);
  TRY_ASSIGN(const struct stat opened, StatRegular(fd.get(), path.native()));
  if (opened.st_dev != expected.st_dev || opened.st_ino != expected.st_ino) {
    return Fail(ErrorCode::kIo, path.native() + ": replaced while it was opened");
  }
  return fd;
}

}  // namespace

Result<UniqueFd> OpenRegularFile(const std::filesystem::path& path) {
  const UniqueFd path_only(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!path_only) return FailErrno(path.native(), errno);
  Result<UniqueFd> file = ReopenRegularFile(path_only, path.native());
  if (file || file.error().code != ErrorCode::kNotFound) return file;
  TRY_ASSIGN(const struct stat expected, StatRegular(path_only.get(), path.native()));
  return OpenByPath(path, expected);
}

Result<UniqueFd> ReopenRegularFile(const UniqueFd& path_only, std::string_view name) {
  TRY(StatRegular(path_only.get(), name));
  const std::string link = "/proc/self/fd/" + std::to_string(path_only.get());
  UniqueFd fd(open(link.c_str(), kReadFlags));
  if (!fd) return FailErrno(name, errno);
  return fd;
}

Result<MappedFile> MapRegularFile(const std::filesystem::path& path) {
  TRY_ASSIGN(const UniqueFd fd, OpenRegularFile(path));
  return MappedFile::FromFd(fd.get(), path.native());
}

Result<std::string> ReadRegularFile(const std::filesystem::path& path, std::uint64_t limit) {
  TRY_ASSIGN(const UniqueFd fd, OpenRegularFile(path));
  return ReadToEnd(fd.get(), path.native(), limit);
}

Result<std::string> ReadToEnd(int fd, std::string_view name, std::uint64_t limit) {
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kIoSize);
    const ssize_t got = read(fd, text.data() + before, kIoSize);
    const int error_number = errno;
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
    if (got < 0 && error_number != EINTR) return FailErrno(name, error_number);
    if (text.size() > limit) {
      return Fail(ErrorCode::kCorrupt, std::string(name) + ": is larger than the limit of " +
                                           std::to_string(limit) + " bytes");
    }
  }
}

}  // namespace base
}  // namespace perftape
