// SPDX-License-Identifier: Apache-2.0
// Compresses records into COMPRESSED records. All COMPRESSED records of a file are pieces of one
// zstd stream. A reader can expand a piece once it has the pieces before it
// (tools/perf/util/tool.c, perf_session__process_compressed_event).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/base/zstd.h"

namespace perftape::perfdata {

// What became of the records that went in, in bytes.
struct Compression {
  std::uint64_t taken = 0;
  std::uint64_t made = 0;  // COMPRESSED records, their headers included

  // How many times smaller they became, 0 where there were none.
  double ratio() const;
};

class RecordCompressor {
 public:
  // What HEADER_COMPRESSED says: perf gives the content of one COMPRESSED record so many bytes, and
  // aborts where it expands to more.
  static constexpr std::uint32_t kMostExpanded = std::uint32_t{64} << 10;

  // `level` as zstd has it, 1 to 22; kInvalidArgument for any other.
  static Result<RecordCompressor> Create(int level);

  // Takes records, whole or in pieces. Appends a COMPRESSED record to `out` whenever a slice of
  // them is full.
  Status Append(Bytes records, std::vector<std::byte>& out);
  // Appends what waits for its slice to become full. All that was taken can then be read back from
  // what was appended so far.
  Status Flush(std::vector<std::byte>& out);

  // Forgets what waits for its slice: what was appended last is not written, and nothing follows.
  void Drop() { slice_.clear(); }

  // The payload of the feature COMPRESSED: { u32 version, type, level, ratio, mmap_len; }. The
  // ratio is that of all that was compressed so far.
  std::vector<std::byte> FeaturePayload() const;

  // Of what was appended; what waits for its slice is not in it yet.
  Compression compression() const { return total_; }

 private:
  RecordCompressor(int level, ZstdCompressor zstd) : level_(level), zstd_(std::move(zstd)) {}

  int level_;
  ZstdCompressor zstd_;
  std::vector<std::byte> slice_;  // taken, not compressed yet
  Compression total_;
};

}  // namespace perftape::perfdata
