// SPDX-License-Identifier: Apache-2.0
#include "formats/base/packed_data.h"

#include <span>

#include "formats/base/zstd.h"

namespace perftape {
inline namespace base {
namespace {

// Fills the start of `room`, and returns the number of bytes that it wrote.
std::size_t Unpack(std::string_view frame, std::span<std::byte> room) {
  Bytes packed = std::as_bytes(std::span(frame));
  return ZstdDecompressor().Expand(packed, room).value_or(0);
}

}  // namespace

std::vector<std::byte> UnpackBytes(const PackedData& packed) {
  std::vector<std::byte> bytes(packed.size);
  bytes.resize(Unpack(packed.frame, bytes));
  return bytes;
}

std::string UnpackText(const PackedData& packed) {
  std::string text(packed.size, '\0');
  text.resize(Unpack(packed.frame, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace base
}  // namespace perftape
