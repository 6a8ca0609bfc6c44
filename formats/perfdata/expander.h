// SPDX-License-Identifier: Apache-2.0
// Reads the records inside COMPRESSED records. All COMPRESSED records of a file are pieces of one
// zstd stream, and a record may begin in one piece and end in the next (tools/perf/util/tool.c,
// perf_session__process_compressed_event). A piece is expanded in windows, so memory use does not
// depend on the expanded size.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/base/zstd.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// Limits the growth of a zstd stream. Samples shrink to a tenth or a hundredth. A large stream that
// grows a thousandfold was made to exhaust memory, disk or time.
class ExpansionBudget {
 public:
  // Adds compressed bytes.
  void AddCompressed(std::uint64_t size) { compressed_ += size; }
  // Adds expanded bytes. Returns whether the stream is within the limit.
  bool Allows(std::uint64_t size) {
    expanded_ += size;
    return expanded_ <= kAlwaysAllowed || expanded_ / kMostGrowth <= compressed_;
  }

 private:
  static constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{128} << 20, kMostGrowth = 1000;
  std::uint64_t compressed_ = 0, expanded_ = 0;
};

class Expander {
 public:
  // The limit in bytes for the expansion of one COMPRESSED record. perf never writes one that
  // expands to more than the size of a ring buffer. A larger expansion is treated as an attack.
  static constexpr std::uint64_t kMostExpanded = std::uint64_t{64} << 20;

  explicit Expander(std::endian order) : order_(order) {}

  // Continues with a COMPRESSED or COMPRESSED2 record. Its views must stay valid until Next returns
  // nothing. kTruncated if a COMPRESSED2 is smaller than its data_size.
  Status Begin(const RecordView& compressed);

  // The next whole record, valid until the next call, or nothing at the end of the COMPRESSED
  // record. After damage (kCorrupt: invalid zstd data, or a size that no record has), the stream is
  // lost up to the next COMPRESSED record that begins a new zstd frame. Those before it yield
  // nothing.
  Result<std::optional<RecordView>> Next();

  // The number of expanded bytes that wait for the end of their record.
  std::size_t waiting() const { return end_ - begin_; }
  // The number of COMPRESSED records that were ignored because the stream before them is lost.
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  // The offset of a record: in the file, and in the expanded bytes of the COMPRESSED record.
  struct Position {
    std::uint64_t file_offset = 0;
    std::int64_t inside = 0;
  };

  Result<std::size_t> Fill();
  std::unexpected<Error> LoseStream(Error error);
  Position PositionOfNext() const;

  std::endian order_;
  ZstdDecompressor zstd_;
  Bytes compressed_;        // the bytes of the piece that are not expanded yet
  std::uint64_t made_ = 0;  // bytes that the piece expanded to so far
  ExpansionBudget budget_;  // for all pieces
  Position piece_;          // the position of the COMPRESSED record
  Position begun_before_;   // the position of a record that began in an earlier piece
  std::uint32_t part_ = 0;
  std::vector<std::byte> buffer_;  // [begin_, end_) are expanded bytes that are not read yet
  std::size_t begin_ = 0, end_ = 0;
  bool is_lost_ = false;
  std::uint64_t passed_over_ = 0;
};

}  // namespace perftape::perfdata
