// SPDX-License-Identifier: Apache-2.0
#include "formats/base/packed_data.h"

#include <span>

#include "formats/base/bytes.h"
#include "formats/base/zstd.h"

namespace perftape {
inline namespace base {

std::string UnpackText(const PackedData& packed) {
  std::string text(packed.size, '\0');
  Bytes frame = std::as_bytes(std::span(packed.frame));
  const auto room = std::as_writable_bytes(std::span(text));
  text.resize(ZstdDecompressor().Expand(frame, room).value_or(0));
  return text;
}

}  // namespace base
}  // namespace perftape
