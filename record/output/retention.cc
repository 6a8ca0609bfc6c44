// SPDX-License-Identifier: Apache-2.0
#include "record/output/retention.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "formats/base/duration.h"
#include "formats/base/file.h"

namespace perftape::record {
namespace {

bool IsLocked(const std::filesystem::path& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::optional<KeptFile> DescribeFile(const std::filesystem::path& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) return std::nullopt;
  return KeptFile{.name = path.filename(),
                  .size = static_cast<std::uint64_t>(status.st_size),
                  .modified_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
                                 static_cast<std::uint64_t>(status.st_mtim.tv_nsec),
                  .device = status.st_dev,
                  .inode = status.st_ino,
                  .is_in_use = IsLocked(path)};
}

}  // namespace

std::vector<std::size_t> FilesToDelete(std::span<const KeptFile> files,
                                       const RetentionLimits& limits, std::uint64_t now_ns) {
  std::vector<std::size_t> deleted;
  std::uint64_t bytes = 0, count = files.size();
  for (const KeptFile& file : files) bytes += file.size;
  for (std::size_t i = 0; i + 1 < files.size(); ++i) {
    const KeptFile& file = files[i];
    if (file.is_in_use) continue;
    const bool is_too_old =
        limits.age && file.modified_ns + static_cast<std::uint64_t>(limits.age->count()) < now_ns;
    const bool is_excess =
        (limits.files && count > *limits.files) || (limits.bytes && bytes > *limits.bytes);
    if (!is_too_old && !is_excess) continue;
    deleted.push_back(i);
    --count;
    bytes -= file.size;
  }
  return deleted;
}

Result<std::vector<KeptFile>> ListFiles(const NamePattern& pattern) {
  TRY_ASSIGN(const std::vector<NumberedName> names, pattern.NamesInDirectory());
  std::vector<KeptFile> files;
  for (const NumberedName& name : names) {
    std::optional<KeptFile> file = DescribeFile(pattern.directory() / name.name);
    if (file) files.push_back(*std::move(file));
  }
  std::ranges::sort(files, {}, [](const KeptFile& file) {
    return std::tuple(file.modified_ns, file.name.size(), std::string_view(file.name));
  });
  return files;
}

void LockWhileInUse(int fd) {
  // A file system without locks has recordings that no other recorder deletes by age.
  (void)flock(fd, LOCK_EX | LOCK_NB);
}

bool DeleteFile(const NamePattern& pattern, const KeptFile& file) {
  const std::filesystem::path path = pattern.directory() / file.name;
  const std::optional<KeptFile> now = DescribeFile(path);
  if (!now || now->is_in_use || now->device != file.device || now->inode != file.inode) {
    return false;
  }
  return unlink(path.c_str()) == 0;
}

Result<std::uint64_t> FreeSpace(const std::filesystem::path& directory) {
  struct statvfs status = {};
  if (statvfs(directory.c_str(), &status) != 0) return FailErrno(directory.native(), errno);
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace perftape::record
