// SPDX-License-Identifier: Apache-2.0
// Writes a bundle: a tar.zst laid out as perf's build-id cache, so that `tar -xf` into ~/.debug is
// all that plain perf needs.
//
//   usr/bin/ls/BUILDID/elf                    .build-id/aa/bbcc… -> ../../usr/bin/ls/BUILDID
//   usr/bin/ls/BUILDID/elf.perftape           (each file has such a marker: marker.h)
//   [kernel.kallsyms]/BUILDID/kallsyms        [vdso]/BUILDID/vdso
//   perf-map/perf-123.map                     jitdump/123/jit-123.dump
//   manifest.json
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/bundle/manifest.h"

namespace perftape::bundle {

class BundleWriter {
 public:
  // Writes behind what `fd`, which it owns, holds already. `level` is zstd's.
  static Result<BundleWriter> Create(UniqueFd fd, int level);

  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;
  ~BundleWriter();

  // Adds `content` under the member path that its path, kind and build id give it, with its marker
  // and the link of its build id, and to the manifest, whose `member` it sets. What is there
  // already (the same build id and kind) is not added again. kIo where the disk is full.
  Status Add(BundledFile file, Bytes content);
  // A file that could not be had: only the manifest tells of it.
  void AddMissing(BundledFile file);

  // Writes the manifest, whose `files` are those that were added, and ends the archive. Returns its
  // size in bytes.
  Result<std::uint64_t> Finish(Manifest manifest) &&;

 private:
  struct Archive;
  explicit BundleWriter(std::unique_ptr<Archive> archive);
  std::unique_ptr<Archive> archive_;
};

}  // namespace perftape::bundle
