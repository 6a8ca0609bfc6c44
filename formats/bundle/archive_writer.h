// SPDX-License-Identifier: Apache-2.0
// A tar.zst in GNU tar's form, whose names are bytes in no encoding. The same members give the same
// bytes: no owner, no time, one mode.
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
  // Writes to `fd` from where it stands. `level` is zstd's, 1 to 22.
  static Result<ArchiveWriter> Create(UniqueFd fd, int level);

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
  std::unique_ptr<Stream, Free> stream_;
};

}  // namespace perftape::bundle
