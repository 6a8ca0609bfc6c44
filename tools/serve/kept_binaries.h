// SPDX-License-Identifier: Apache-2.0
// Symbols of binaries that the importer cannot open by their paths: those of containers, and those
// that were deleted or replaced. Kept as slim copies (formats/elf/slim.h) in a directory, by build
// id, in bounded space: those that had no sample for the longest time are removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <string>

#include "formats/base/build_id.h"
#include "formats/base/result.h"

namespace perftape::serve {

class KeptBinaries {
 public:
  // The size of all copies. The directory may be in memory.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;

  explicit KeptBinaries(std::filesystem::path directory, std::uint64_t most_bytes = kMostBytes)
      : directory_(std::move(directory)), most_bytes_(most_bytes) {}

  // Keeps the symbols of the open file, unless `path` is this file. Fails as reading an ELF file
  // and writing do; with kUnsupported if the copy is too large.
  Status Add(const std::string& path, const BuildId& build_id, int file);
  // A sample hit the binary.
  void Use(const BuildId& build_id);

  // Where the copies are, in the layout of .build-id.
  const std::filesystem::path& directory() const { return directory_; }

 private:
  struct Copy {
    BuildId build_id;
    std::uint64_t bytes = 0;
  };
  std::filesystem::path PathOf(const BuildId& build_id) const;
  void RemoveOldest();

  const std::filesystem::path directory_;
  const std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::list<Copy> copies_;  // the last used one first
  std::map<BuildId, std::list<Copy>::iterator> by_id_;
};

}  // namespace perftape::serve
