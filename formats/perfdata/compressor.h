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

// The sizes in bytes of the input records and of the compressed output.
struct Compression {
  std::uint64_t original = 0;
  std::uint64_t compressed = 0;  // COMPRESSED records with their headers

  // original / compressed, or 0 without records.
  double ratio() const;
};

class RecordCompressor {
 public:
  // The mmap_len of the feature COMPRESSED in bytes. perf allocates a buffer of this size for the
  // content of one COMPRESSED record, and aborts if it expands to more.
  static constexpr std::uint32_t kMostExpanded = std::uint32_t{64} << 10;

  // `level` is a level of zstd, 1 to 22; kInvalidArgument for any other.
  static Result<RecordCompressor> Create(int level);

  // Adds whole or partial records to the current slice. Appends a COMPRESSED record to `out`
  // whenever a slice is full.
  Status Append(Bytes records, std::vector<std::byte>& out);
  // Appends the current slice as a COMPRESSED record. After that, a reader of the output so far
  // finds all records that were added.
  Status Flush(std::vector<std::byte>& out);

  // Drops the current slice. Call it if the last output is not written and nothing follows.
  void Drop() { slice_.clear(); }

  // The payload of the feature COMPRESSED (CompressionInfo). The ratio covers everything compressed
  // so far.
  std::vector<std::byte> FeaturePayload() const;

  // The sizes of the appended COMPRESSED records. The current slice is not included.
  Compression compression() const { return total_; }

 private:
  RecordCompressor(int level, ZstdCompressor zstd) : level_(level), zstd_(std::move(zstd)) {}

  int level_;
  ZstdCompressor zstd_;
  std::vector<std::byte> slice_;  // added but not compressed yet
  Compression total_;
};

}  // namespace perftape::perfdata
