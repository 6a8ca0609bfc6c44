// SPDX-License-Identifier: Apache-2.0
// A bundle in a file of its own: it gets its name when it is complete, and nothing is left of it
// where it never is.
#pragma once

#include <filesystem>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape {

// What becomes of a file that has the name already: it becomes PATH.old, or goes.
enum class OldBundle : std::uint8_t { kKeep, kReplace };

class BundleFile {
 public:
  // Under a temporary name beside `path`. kInvalidArgument where that is there and no regular file;
  // else what the file system says.
  static Result<BundleFile> Create(const std::filesystem::path& path);

  BundleFile(BundleFile&& other) noexcept;
  BundleFile& operator=(BundleFile&&) = delete;
  ~BundleFile();

  // A descriptor of its own for who writes it.
  Result<UniqueFd> Duplicate() const;
  // Syncs and renames.
  Status Commit(OldBundle old) &&;

 private:
  BundleFile() = default;

  UniqueFd fd_;
  std::filesystem::path path_, temporary_;  // the latter empty when it has its name
};

}  // namespace perftape
