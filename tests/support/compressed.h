// SPDX-License-Identifier: Apache-2.0
// Makes COMPRESSED records for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/abi.h"
#include "tests/support/zstd_frame.h"

namespace perftape::perfdata {

// Returns a COMPRESSED record with bytes of a zstd stream.
inline std::vector<std::byte> CompressedRecord(Bytes piece) {
  std::vector<std::byte> record;
  ByteWriter at(record);
  at.Fixed(RecordType::kCompressed);
  at.Fixed(std::uint16_t{0});
  at.Fixed(static_cast<std::uint16_t>(sizeof(RecordHeader) + piece.size()));
  at.Blob(piece, piece.size());
  return record;
}

// Returns `records` as COMPRESSED records, each with at most `most` bytes of one zstd frame.
inline std::vector<std::byte> CompressedRecords(Bytes records, std::size_t most) {
  const std::vector<std::byte> frame = ZstdFrame(records);
  std::vector<std::byte> compressed;
  for (Bytes left = frame; !left.empty();) {
    const Bytes piece = left.first(std::min(most, left.size()));
    const std::vector<std::byte> record = CompressedRecord(piece);
    compressed.insert(compressed.end(), record.begin(), record.end());
    left = left.subspan(piece.size());
  }
  return compressed;
}

}  // namespace perftape::perfdata
