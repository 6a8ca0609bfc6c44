// SPDX-License-Identifier: Apache-2.0
// A cache of what was computed from binaries, by build id: a directory with one file per binary and
// type of index (source lines, unwind tables). It is optional: failures only cost time. Many
// processes may use it at once, because files are written under temporary names and then renamed.
// The content of a file is checked by its hash. Only files are read that belong to the current user
// and that nobody else can write.
//
// File format: { u64 magic; u64 body size; u64 XXH3 of the body; u8 build id[20]; padding to 64
// bytes; body }.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/file.h"

namespace perftape::elf {

enum class IndexType : std::uint8_t { kLines, kUnwindTable };

// Threads may share it.
class IndexCache {
 public:
  static constexpr std::uint64_t kUsualLimit = std::uint64_t{1} << 30;

  // Above `limit` bytes of all types, the least recently used files are removed.
  IndexCache(std::filesystem::path directory, IndexType type, std::uint64_t limit = kUsualLimit)
      : directory_(std::move(directory)), type_(type), limit_(limit) {}

  // A stored body, mapped. Empty if there is none or it failed the checks.
  class Entry {
   public:
    Entry() = default;
    explicit Entry(MappedFile file, Bytes body) : file_(std::move(file)), body_(body) {}
    Bytes body() const { return body_; }  // valid as long as this object, also after a move

   private:
    std::optional<MappedFile> file_;
    Bytes body_;
  };
  Entry Load(const BuildId& build_id) const;

  // Creates the directory if needed, accessible only to the user.
  void Store(const BuildId& build_id, Bytes body) const;

 private:
  std::filesystem::path PathOf(const BuildId& build_id) const;
  void Trim() const;

  std::filesystem::path directory_;
  IndexType type_;
  std::uint64_t limit_;
  mutable std::atomic<bool> was_trimmed_ = false;
  mutable std::atomic<std::uint64_t> stored_ = 0;  // bytes since then
};

// Returns $XDG_CACHE_HOME/perftape or ~/.cache/perftape. Empty if neither is known, or if the home
// directory belongs to another user: under sudo, files of root would be in the way there.
std::filesystem::path UsualIndexCache();

}  // namespace perftape::elf
