// SPDX-License-Identifier: Apache-2.0
// Expands what is compressed in ELF files: zlib and zstd sections, and the xz of MiniDebugInfo.
// Memory use follows the real expanded size, up to a limit, not the size that a header claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// Bytes of their own, not touched before they are written.
class ExpandedBytes {
 public:
  ExpandedBytes() = default;
  // kUnsupported where there is no memory for `size` bytes.
  static Result<ExpandedBytes> WithRoomFor(std::uint64_t size);

  std::span<std::byte> room() { return {data_.get(), size_}; }
  Bytes bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

// A section's stream, which must expand to `size` bytes exactly. kCorrupt where it does not, and
// where `size` is more than such a stream can hold.
Result<ExpandedBytes> ExpandZlib(Bytes compressed, std::uint64_t size);
Result<ExpandedBytes> ExpandZstd(Bytes compressed, std::uint64_t size);

// A whole .xz file. kUnsupported where it expands to more than `limit` bytes, or needs more memory
// than that for its dictionary.
Result<std::vector<std::byte>> ExpandXz(Bytes compressed, std::uint64_t limit);

}  // namespace perftape::elf
