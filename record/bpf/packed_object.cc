// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/packed_object.h"

#include "formats/base/zstd.h"

namespace perftape::record {

std::vector<std::byte> UnpackObject(Bytes packed, std::size_t size) {
  std::vector<std::byte> object(size);
  ZstdDecompressor zstd;
  object.resize(zstd.Expand(packed, object).value_or(0));
  return object;
}

}  // namespace perftape::record
