// SPDX-License-Identifier: Apache-2.0
// Expands the compressed parts of ELF files: zlib and zstd sections, and the xz of MiniDebugInfo.
// Memory use follows the real expanded size, up to a limit, not the size that a header claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// Owned bytes. Untouched pages use no memory until they are written.
class ExpandedBytes {
 public:
  ExpandedBytes() = default;
  // Returns kUnsupported if there is no memory for `size` bytes.
  static Result<ExpandedBytes> WithRoomFor(std::uint64_t size);

  std::span<std::byte> room() { return {data_.get(), size_}; }
  Bytes bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

// Expands the stream of a section, which must expand to exactly `size` bytes. Returns kCorrupt if
// it does not, or if `size` is more than such a stream can contain.
Result<ExpandedBytes> ExpandZlib(Bytes compressed, std::uint64_t size);
Result<ExpandedBytes> ExpandZstd(Bytes compressed, std::uint64_t size);

// Expands a whole .gz file, as ExpandXz does.
Result<std::vector<std::byte>> ExpandGzip(Bytes compressed, std::uint64_t limit);
// Expands a whole .xz file. Returns kUnsupported if it expands to more than `limit` bytes, or needs
// more memory than `limit` for its dictionary.
Result<std::vector<std::byte>> ExpandXz(Bytes compressed, std::uint64_t limit);

}  // namespace perftape::elf
