// SPDX-License-Identifier: Apache-2.0
// Keeps the binaries that samples hit open. An open file stays the one that ran, even if it is
// deleted, replaced or unmounted, or if its process and container end.
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
  std::string path;  // as in the recording
  BuildId build_id;  // empty if it has none
  UniqueFd file;     // open for reading; empty if it is missing or `slim` is used
  std::vector<std::byte> slim = {};
  std::uint64_t size = 0;    // of the file, in bytes
  std::string missing = {};  // why the file is not available
};

// Raises the limit of open files of this process as far as possible. Returns how many of them
// HitFiles can use. Programs that are started later inherit the limit.
std::size_t RoomForOpenFiles();

// Not thread-safe.
class HitFiles {
 public:
  // Keeps at most `most_open` files open. Makes slim copies of the others at once and keeps them in
  // memory, up to the limit of one file for all copies (symbol_limits.h).
  explicit HitFiles(std::size_t most_open) : most_open_(most_open) {}

  // Adds an open file. A second file with the same build id is ignored. So is, without a build id,
  // the same file under the same path.
  void Add(std::string_view path, const BuildId& build_id, UniqueFd file);
  void AddMissing(bundle::FileKind kind, std::string_view path, const BuildId& build_id,
                  std::string reason);

  // A sample hit the running kernel or one of its modules; a sample hit the vdso.
  void AddKernel() { has_kernel_ = true; }
  void AddVdso() { has_vdso_ = true; }

  // In the order of their first hits, including missing ones.
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
