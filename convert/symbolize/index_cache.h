// SPDX-License-Identifier: Apache-2.0
// Indexes of source lines that were built before, by build id: a directory with one file for each
// binary. It is never needed: whatever fails costs time only. Many processes may use it at once,
// since files are written beside their names and renamed; each is checked by its content, and only
// what belongs to who runs this, and nobody else may write to, is read.
//
// A file is { u64 magic; u64 body size; u64 XXH3 of the body; u8 build id[20]; padding to 64 bytes;
// body }.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/file.h"

namespace perftape::symbolize {

class IndexCache {
 public:
  static constexpr std::uint64_t kUsualLimit = std::uint64_t{1} << 30;

  // Beyond `limit` bytes the files that were not used for longest are removed.
  explicit IndexCache(std::filesystem::path directory, std::uint64_t limit = kUsualLimit)
      : directory_(std::move(directory)), limit_(limit) {}

  // What was stored, mapped. Empty bytes where there is no such thing, or it is not to be trusted.
  class Entry {
   public:
    Entry() = default;
    explicit Entry(MappedFile file, Bytes body) : file_(std::move(file)), body_(body) {}
    Bytes body() const { return body_; }  // as long as this lives, wherever it was moved

   private:
    std::optional<MappedFile> file_;
    Bytes body_;
  };
  Entry Load(const BuildId& build_id) const;

  // Makes the directory where there is none, for nobody else.
  void Store(const BuildId& build_id, Bytes body) const;

 private:
  std::filesystem::path PathOf(const BuildId& build_id) const;
  void Trim() const;

  std::filesystem::path directory_;
  std::uint64_t limit_;
};

// $XDG_CACHE_HOME/perftape, or ~/.cache/perftape; empty where neither is known.
std::filesystem::path UsualIndexCache();

}  // namespace perftape::symbolize
