// SPDX-License-Identifier: Apache-2.0
// Reads files and directories, and makes special files.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "tests/support/temp_dir.h"

namespace perftape {

inline std::string TextOf(const std::filesystem::path& path) {
  return ReadWholeFile(path).value_or("<unreadable>");
}

inline std::vector<std::string> NamesIn(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

// Returns the result of lstat.
inline struct stat StatusOf(const std::filesystem::path& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) throw std::runtime_error("lstat " + path.string());
  return status;
}

inline mode_t ModeOf(const std::filesystem::path& path) {
  return StatusOf(path).st_mode & 07777U;
}

inline std::filesystem::path MakeFifo(const std::filesystem::path& path) {
  if (mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("mkfifo " + path.string());
  return path;
}

// Returns the path of a device such as /dev/null (minor 3) or /dev/full (7) that a test may
// destroy. Root gets a copy; others get the device of the system, which they cannot remove. Nothing
// if neither is usable.
inline std::optional<std::filesystem::path> MemoryDevice(const TempDir& directory,
                                                         unsigned minor_number) {
  const bool is_root = geteuid() == 0;
  std::filesystem::path path = minor_number == 3 ? "/dev/null" : "/dev/full";
  if (is_root) {
    path = directory / path.filename().native();
    if (mknod(path.c_str(), S_IFCHR | 0666, makedev(1, minor_number)) != 0) return std::nullopt;
  }
  const UniqueFd usable(open(path.c_str(), O_WRONLY | O_CLOEXEC));  // fails where mounted nodev
  return usable ? std::optional(path) : std::nullopt;
}

}  // namespace perftape
