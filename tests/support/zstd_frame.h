// SPDX-License-Identifier: Apache-2.0
// A whole zstd frame. perftape itself, like perf, only writes frames that do not end.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/zstd.h"

namespace perftape {

// `bytes` as one zstd frame with an end.
inline std::vector<std::byte> ZstdFrame(Bytes bytes) {
  ZstdCompressor compressor = ZstdCompressor::Create(1).value();
  std::vector<std::byte> frame;
  compressor.Compress(bytes, frame).value();
  compressor.Flush(frame).value();
  // An empty raw block that is the last one (RFC 8878, section 3.1.1.2). No checksum follows.
  frame.insert(frame.end(), {std::byte{1}, std::byte{0}, std::byte{0}});
  return frame;
}

}  // namespace perftape
