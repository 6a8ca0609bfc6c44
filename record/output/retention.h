// SPDX-License-Identifier: Apache-2.0
// Which files of a rotating recording are kept, and how much space the disk has left.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/output/name_pattern.h"

namespace perftape::record {

struct RetentionLimits {
  std::optional<std::uint64_t> files = {};  // the most files to keep, at least 1
  std::optional<std::uint64_t> bytes = {};  // the most bytes of all files together
  std::optional<std::chrono::nanoseconds> age = {};

  bool any() const { return files || bytes || age; }
};

struct KeptFile {
  std::string name;               // in the directory
  std::uint64_t size = 0;         // in bytes
  std::uint64_t modified_ns = 0;  // of CLOCK_REALTIME
  std::uint64_t device = 0, inode = 0;
  // A recorder is writing or completing it. It counts towards the limits, and is never deleted.
  bool is_in_use = false;

  bool operator==(const KeptFile&) const = default;
};

// Returns the indices of the files to delete, oldest first, so that the others keep the limits.
// `files` are sorted, the oldest first. The newest file is always kept.
std::vector<std::size_t> FilesToDelete(std::span<const KeptFile> files,
                                       const RetentionLimits& limits, std::uint64_t now_ns);

// Lists the regular files of this user whose names are of the pattern, the oldest first. A file
// that is locked (LockWhileInUse) is in use.
Result<std::vector<KeptFile>> ListFiles(const NamePattern& pattern);

// Locks the file that `fd` is open on until all descriptors of this opening are closed.
void LockWhileInUse(int fd);

// Deletes a file of the list unless it is in use by now, or the name belongs to another file.
// Returns whether it was deleted.
bool DeleteFile(const NamePattern& pattern, const KeptFile& file);

// Returns the bytes of the file system of `directory` that this user may use.
Result<std::uint64_t> FreeSpace(const std::filesystem::path& directory);

}  // namespace perftape::record
