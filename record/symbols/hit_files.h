// SPDX-License-Identifier: Apache-2.0
// The binaries that samples hit, kept at hand: an open file stays the one that ran, whatever is
// deleted, replaced or unmounted meanwhile, and also when its process and its container are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/bundle/manifest.h"

namespace perftape::record {

struct HitBinary {
  bundle::FileKind kind = bundle::FileKind::kElf;
  std::string path;  // as the recording calls it
  BuildId build_id;  // empty where it has none
  UniqueFd file;     // open for reading; none where it is missing, or `slim` has what is needed
  std::vector<std::byte> slim = {};
  std::uint64_t size = 0;    // of the file, in bytes
  std::string missing = {};  // why nothing of it can be had
};

// Raises this process's limit of open files as far as it may, and returns how many of them can be
// used for HitFiles. Programs that are started later inherit it.
std::size_t RoomForOpenFiles();

// Not thread-safe.
class HitFiles {
 public:
  // Keeps at most `most_open` files open; of those beyond that a slim copy is made at once, and
  // kept in memory as long as all such copies are no more than is read of one file
  // (symbol_limits.h).
  explicit HitFiles(std::size_t most_open) : most_open_(most_open) {}

  // A file that was found, open. One with the same build id, or without one the same file under the
  // same path, is kept once.
  void Add(std::string_view path, const BuildId& build_id, UniqueFd file);
  void AddMissing(bundle::FileKind kind, std::string_view path, const BuildId& build_id,
                  std::string reason);

  // The running kernel or one of its modules was hit; the vdso that this process has, too, was.
  void AddKernel() { has_kernel_ = true; }
  void AddVdso() { has_vdso_ = true; }

  // In the order of their first hits, those that are missing among them.
  const std::vector<HitBinary>& binaries() const { return binaries_; }
  bool has_kernel() const { return has_kernel_; }
  bool has_vdso() const { return has_vdso_; }

 private:
  std::size_t most_open_;
  std::size_t open_ = 0;
  std::uint64_t slim_bytes_ = 0;
  std::vector<HitBinary> binaries_;
  bool has_kernel_ = false, has_vdso_ = false;
};

}  // namespace perftape::record
