// SPDX-License-Identifier: Apache-2.0
// Keeps the binaries that samples hit open. An open file stays the one that ran, even if it is
// deleted, replaced or unmounted, or if its process and container end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/bundle/manifest.h"

namespace perftape::record {

// A file as a bundle contains it, in an unlinked file.
struct BundledCopy {
  bundle::BundledFile about;
  UniqueFd bytes;
};

struct HitBinary {
  bundle::FileKind kind = bundle::FileKind::kElf;
  std::string path;  // as in the recording
  BuildId build_id;  // empty if it has none
  UniqueFd file;     // open for reading; empty if it is missing or `slim` is used
  std::vector<std::byte> slim = {};
  std::uint64_t size = 0;    // of the file, in bytes
  std::string missing = {};  // why the file is not available
  // What the bundle of an earlier file of a rotating recording contains of this binary: itself and
  // its debug files. Only WriteBundle uses it, and two bundles are never written at once.
  std::vector<BundledCopy> copies = {};
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

  // Returns the owner for the next file of a rotating recording. It shares the binaries of this
  // one, and has none of its own until they are hit again.
  HitFiles NextFile() const;

  // Adds an open file. A second file with the same build id is ignored. So is, without a build id,
  // the same file under the same path.
  void Add(std::string_view path, const BuildId& build_id, UniqueFd file);
  // A binary of an earlier file is hit again. Returns false if it was not kept.
  bool AddAgain(std::string_view path, const BuildId& build_id);
  void AddMissing(bundle::FileKind kind, std::string_view path, const BuildId& build_id,
                  std::string reason);

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
  bool has_kernel_ = false, has_vdso_ = false;
};

}  // namespace perftape::record
