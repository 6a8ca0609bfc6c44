// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/clean.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "formats/bundle/marker.h"

namespace perftape::bundle {
namespace {

namespace fs = std::filesystem;

// The maximum depth of directories. Paths in a cache have two components more than recorded paths.
constexpr int kMaxDirectoryDepth = 512;
constexpr std::size_t kLargestMarker = 256;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// A directory of the cache. `path` is relative to the cache; it is for messages and links.
struct Directory {
  UniqueFd fd;
  fs::path path;

  fs::path At(const std::string& name) const { return path / name; }
};

// Returns the sorted names, so that the order does not depend on the file system.
Result<std::vector<std::string>> NamesIn(const Directory& directory) {
  const int copy = openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return FailErrno(directory.path.native(), errno);
  const std::unique_ptr<DIR, CloseDirectory> entries(fdopendir(copy));
  if (entries == nullptr) return FailErrno(directory.path.native(), errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe): own DIR
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// Opens a directory. Returns nothing if `name` is not a directory or is a symbolic link.
Result<std::optional<Directory>> Enter(const Directory& parent, const std::string& name) {
  UniqueFd fd(
      openat(parent.fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) return Directory{std::move(fd), parent.At(name)};
  if (errno == ENOTDIR || errno == ELOOP || errno == ENOENT) return std::nullopt;
  return FailErrno(parent.At(name).native(), errno);
}

// Returns nothing if `name` is not a regular file.
std::optional<std::uint64_t> SizeOf(const Directory& directory, const std::string& name) {
  struct stat status = {};
  const int failed = fstatat(directory.fd.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  if (failed != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

// Returns the size in the marker. Nothing if the file is not a valid marker.
std::optional<std::uint64_t> ReadMarker(const Directory& directory, const std::string& name) {
  if (!SizeOf(directory, name)) return std::nullopt;
  const UniqueFd fd(openat(directory.fd.get(), name.c_str(),
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  std::array<char, kLargestMarker> text = {};
  const ssize_t size = fd ? read(fd.get(), text.data(), text.size()) : -1;
  if (size <= 0) return std::nullopt;
  return SizeInMarker({text.data(), static_cast<std::size_t>(size)});
}

class Cleaning {
 public:
  explicit Cleaning(Directory root) : root_(std::move(root)) {}

  Result<CleanReport> Run() && {
    TRY(CleanBelow(root_, 0));
    TRY(RemoveLinks());
    return std::move(report_);
  }

 private:
  // Returns whether anything was removed from `directory` itself.
  Result<bool> CleanBelow(const Directory& directory, int depth) {
    TRY_ASSIGN(const std::vector<std::string> names, NamesIn(directory));
    bool has_removed = false;
    for (const std::string& name : names) {
      if (IsMarker(name)) {
        TRY_ASSIGN(const bool removed, RemoveMarked(directory, name));
        has_removed = has_removed || removed;
        continue;
      }
      if (depth == kMaxDirectoryDepth) continue;
      TRY_ASSIGN(const std::optional<Directory> below, Enter(directory, name));
      if (!below) continue;
      TRY_ASSIGN(const bool was_cleaned, CleanBelow(*below, depth + 1));
      if (was_cleaned && RemoveIfEmpty(directory, name)) has_removed = true;
    }
    return has_removed;
  }

  Result<bool> RemoveMarked(const Directory& directory, const std::string& marker) {
    const std::optional<std::uint64_t> marked_size = ReadMarker(directory, marker);
    if (!marked_size) return false;
    const std::string name(MarkedBy(marker));
    const std::optional<std::uint64_t> size = SizeOf(directory, name);
    if (size && size == marked_size) {
      TRY(Unlink(directory, name));
      ++report_.files;
      report_.bytes += *size;
      removed_.insert(directory.At(name));
    } else if (size) {
      report_.kept.push_back(directory.At(name));
    }
    TRY(Unlink(directory, marker));
    return true;
  }

  static Status Unlink(const Directory& directory, const std::string& name) {
    if (unlinkat(directory.fd.get(), name.c_str(), 0) == 0) return {};
    return FailErrno(directory.At(name).native(), errno);
  }

  bool RemoveIfEmpty(const Directory& parent, const std::string& name) {
    if (unlinkat(parent.fd.get(), name.c_str(), AT_REMOVEDIR) != 0) return false;
    removed_.insert(parent.At(name));
    return true;
  }

  // Removes the links in .build-id/aa/ whose targets were removed.
  Status RemoveLinks() {
    TRY_ASSIGN(const std::optional<Directory> all, Enter(root_, ".build-id"));
    if (!all) return {};
    TRY_ASSIGN(const std::vector<std::string> names, NamesIn(*all));
    bool has_removed = false;
    for (const std::string& name : names) {
      TRY_ASSIGN(const std::optional<Directory> directory, Enter(*all, name));
      if (!directory) continue;
      TRY_ASSIGN(const bool was_cleaned, RemoveLinksIn(*directory));
      if (was_cleaned && RemoveIfEmpty(*all, name)) has_removed = true;
    }
    if (has_removed) RemoveIfEmpty(root_, ".build-id");
    return {};
  }

  Result<bool> RemoveLinksIn(const Directory& directory) {
    TRY_ASSIGN(const std::vector<std::string> names, NamesIn(directory));
    bool has_removed = false;
    for (const std::string& name : names) {
      std::array<char, PATH_MAX> target = {};
      const ssize_t size =
          readlinkat(directory.fd.get(), name.c_str(), target.data(), target.size());
      if (size <= 0) continue;
      const std::string_view text(target.data(), static_cast<std::size_t>(size));
      if (!removed_.contains((directory.path / text).lexically_normal())) continue;
      TRY(Unlink(directory, name));
      ++report_.links;
      has_removed = true;
    }
    return has_removed;
  }

  Directory root_;
  std::set<fs::path> removed_;  // files and directories
  CleanReport report_;
};

}  // namespace

Result<CleanReport> Clean(const fs::path& directory) {
  UniqueFd root(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return FailErrno(directory.native(), errno);
  auto report = Cleaning({std::move(root), {}}).Run();
  if (!report) return Fail(InContext(directory.native(), std::move(report).error()));
  return report;
}

}  // namespace perftape::bundle
