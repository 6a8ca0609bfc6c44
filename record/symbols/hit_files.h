// SPDX-License-Identifier: Apache-2.0
// Keeps the binaries that samples hit open. An open file stays the one that ran, even if it is
// deleted, replaced or unmounted, or if its process and container end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/base/file_number.h"
#include "formats/bundle/manifest.h"

namespace perftape::record {

// A file as a bundle contains it, in an unlinked file.
struct BundledCopy {
  bundle::BundledFile about;
  UniqueFd bytes;
};

struct HitBinary {
  bundle::FileKind kind = bundle::FileKind::kElf;
  std::string path;        // as in the recording
  BuildId build_id;        // empty if it has none
  FileNumber number = {};  // of the mapping, if it has no build id; may be unknown
  UniqueFd file;           // open for reading; empty if it is missing or `slim` is used
  std::vector<std::byte> slim = {};
  std::uint64_t size = 0;        // of the file, in bytes
  std::int64_t modified_ns = 0;  // its time of modification when it was opened
  std::string missing = {};      // why the file is not available
  // The copies of this binary and of its debug files in the bundle of an earlier file of a rotating
  // recording. Only WriteBundle uses it, and two bundles are never written at once.
  std::vector<BundledCopy> copies = {};
  std::string content = {};  // bundle::ContentHash, once an earlier bundle was written
  // How many files of a rotating recording in a row had no sample in it. Only HitFiles uses it.
  unsigned files_without_hit = 0;
};

// A rotating recording closes a binary after this many files in a row without a sample in it. So a
// continuous recording does not accumulate descriptors, or the disk space of deleted binaries.
inline constexpr unsigned kMostFilesWithoutHit = 8;

// Raises the limit of open files of this process as far as possible. Returns how many of them
// HitFiles can use. Programs that are started later inherit the limit.
std::size_t RoomForOpenFiles();

// The binaries that several HitFiles share. A binary that none of them holds any more is closed.
// Not thread-safe, but another thread may destroy a HitFiles.
class HitPool {
 public:
  void Add(const std::shared_ptr<HitBinary>& binary) { binaries_.push_back(binary); }
  // Returns the binary if it is still kept, or null. Without a build id, path and number identify
  // it.
  std::shared_ptr<HitBinary> Find(std::string_view path, const BuildId& build_id,
                                  const FileNumber& number) const;

  struct Sums {
    std::size_t open = 0;          // files
    std::uint64_t slim_bytes = 0;  // of slim copies
  };
  // Forgets the binaries that are closed.
  Sums CountKept();

 private:
  std::vector<std::weak_ptr<HitBinary>> binaries_;
};

// Not thread-safe.
class HitFiles {
 public:
  // Keeps at most `most_open` files open. Makes slim copies of the others at once and keeps them in
  // memory, up to the limit of one file for all copies (symbol_limits.h). With a pool, both limits
  // are for all that share it.
  explicit HitFiles(std::size_t most_open, std::shared_ptr<HitPool> pool = nullptr)
      : most_open_(most_open), pool_(std::move(pool)) {}

  // Returns the owner for the next file of a rotating recording. It shares the binaries of this
  // one, except those that were not hit for kMostFilesWithoutHit files. It has none of its own
  // until they are hit again.
  HitFiles NextFile();

  // Adds an open file. A second file with the same build id is ignored. So is, without a build id,
  // the same file under the same path: the one with this number.
  void Add(std::string_view path, const BuildId& build_id, UniqueFd file,
           const FileNumber& number = {});
  // A binary of an earlier file, or of the pool, is hit again. Returns false if it was not kept.
  bool AddAgain(std::string_view path, const BuildId& build_id, const FileNumber& number = {});
  // With a number, no file at the path is the sampled one any more.
  void AddMissing(bundle::FileKind kind, std::string_view path, const BuildId& build_id,
                  std::string reason, const FileNumber& number = {});

  // Adds the binaries of `other` that this one does not have.
  void AddAllOf(const HitFiles& other);

  // A sample hit the running kernel or one of its modules; a sample hit the vdso.
  void AddKernel() { has_kernel_ = true; }
  void AddVdso() { has_vdso_ = true; }

  // In the order of their first hits, including missing ones.
  const std::vector<std::shared_ptr<HitBinary>>& binaries() const { return binaries_; }
  bool has_kernel() const { return has_kernel_; }
  bool has_vdso() const { return has_vdso_; }

 private:
  std::size_t most_open_;
  std::size_t open_ = 0;
  std::uint64_t slim_bytes_ = 0;
  std::vector<std::shared_ptr<HitBinary>> binaries_;
  std::vector<std::shared_ptr<HitBinary>> earlier_;  // those of earlier files, open still
  std::shared_ptr<HitPool> pool_;                    // may be null
  bool has_kernel_ = false, has_vdso_ = false;
};

}  // namespace perftape::record
