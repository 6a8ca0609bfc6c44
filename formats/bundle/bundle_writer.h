// SPDX-License-Identifier: Apache-2.0
// Writes a bundle: a tar.zst in the layout of perf's build-id cache. After `tar -xf` into ~/.debug,
// plain perf finds the files.
//
//   usr/bin/ls/BUILDID/elf                    .build-id/aa/bbcc… -> ../../usr/bin/ls/BUILDID
//   usr/bin/ls/BUILDID/elf.perftape           (each file has such a marker: marker.h)
//   [kernel.kallsyms]/BUILDID/kallsyms        [vdso]/BUILDID/vdso
//   perf-map/perf-123.map                     jitdump/123/jit-123.dump
//   recording.json (only in the bundle of a recording: recording_notes.h)
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
#include "formats/bundle/recording_notes.h"

namespace perftape::bundle {

class BundleWriter {
 public:
  // Appends to the file of `fd`, which the writer owns. `level` is zstd's.
  static Result<BundleWriter> Create(UniqueFd fd, int level);

  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;
  ~BundleWriter();

  // Adds `content`, its marker and the link of its build id. The member path follows from path,
  // kind and build id. Adds `file` to the manifest and sets its `member`. Does nothing if a file of
  // the same build id and kind was added before. Returns kIo if the disk is full.
  Status Add(BundledFile file, Bytes content);
  // Adds a file without a build id if a file of the same content was added before, or was added as
  // missing; the archive contains the bytes once. Returns the file that it added, valid until the
  // next call; null if there is no file of the same content.
  const BundledFile* AddSame(const BundledFile& file);
  // Adds a file that could not be read. Only the manifest mentions it.
  void AddMissing(BundledFile file);

  // Adds the notes of the recording. They must be the first member.
  Status AddNotes(const RecordingNotes& notes);

  // Writes the manifest with the files that were added, and ends the archive. Returns its size in
  // bytes.
  Result<std::uint64_t> Finish(Manifest manifest) &&;

 private:
  struct Archive;
  explicit BundleWriter(std::unique_ptr<Archive> archive);
  std::unique_ptr<Archive> archive_;
};

}  // namespace perftape::bundle
