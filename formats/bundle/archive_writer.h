// SPDX-License-Identifier: Apache-2.0
// Writes a compressed tar in the format of GNU tar, whose names are bytes without an encoding.
// Equal members give equal bytes: no owner, no time, one mode.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::bundle {

class ArchiveWriter {
 public:
  // Writes a tar.zst to `fd` from its current position on. `level` is zstd's, from 1 to 22.
  static Result<ArchiveWriter> Create(UniqueFd fd, int level);
  // Writes a tar.bz2, the format of `perf archive`.
  static Result<ArchiveWriter> CreateBzip2(UniqueFd fd);

  // Add a regular file and a symbolic link. Return the error of writing to `fd`, or kIo.
  Status AddFile(const std::string& name, Bytes content);
  Status AddLink(const std::string& name, const std::string& target);

  // Ends the archive. Returns its size in bytes.
  Result<std::uint64_t> Finish() &&;

 private:
  struct Stream;
  struct Free {
    void operator()(Stream* stream) const;
  };
  explicit ArchiveWriter(std::unique_ptr<Stream, Free> stream);
  // `add_filter` sets the compression; it returns a status of libarchive.
  template <class AddFilter>
  static Result<ArchiveWriter> CreateWith(UniqueFd fd, const AddFilter& add_filter);
  std::unique_ptr<Stream, Free> stream_;
};

}  // namespace perftape::bundle
