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

// How much a zstd stream has come to. Samples shrink to a tenth or a hundredth; what grows a
// thousandfold, and is large, was made to fill memory, disks or time.
class ExpansionBudget {
 public:
  void Take(std::uint64_t compressed) { taken_ += compressed; }
  // Whether the stream may come to this many bytes more.
  bool Allows(std::uint64_t expanded) {
    made_ += expanded;
    return made_ <= kAlwaysAllowed || made_ / kMostGrowth <= taken_;
  }

 private:
  static constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{128} << 20, kMostGrowth = 1000;
  std::uint64_t taken_ = 0, made_ = 0;
};

class Expander {
 public:
  // What one COMPRESSED record may expand to. perf expands none to more than a ring buffer holds;
  // beyond this it is a bomb.
  static constexpr std::uint64_t kMostExpanded = std::uint64_t{64} << 20;

  explicit Expander(std::endian order) : order_(order) {}

  // Goes on with a COMPRESSED or COMPRESSED2 record, whose views must stay valid until Next has
  // returned nothing. kTruncated where a COMPRESSED2 is smaller than it says.
  Status Begin(const RecordView& compressed);

  // The next whole record, valid until the next call; nothing where the COMPRESSED record is used
  // up. After damage (kCorrupt: zstd, or a size that no record has) the rest of the stream is lost
  // up to a piece that begins a new zstd frame; pieces before it yield nothing.
  Result<std::optional<RecordView>> Next();

  // How many bytes wait for the end of their record.
  std::size_t waiting() const { return end_ - begin_; }
  // COMPRESSED records that were passed over because the stream before them is lost.
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  // Where a record began.
  struct Position {
    std::uint64_t file_offset = 0;
    std::int64_t inside = 0;
  };

  Result<std::size_t> Fill();
  std::unexpected<Error> GiveUp(Error error);
  Position PositionOfNext() const;

  std::endian order_;
  ZstdDecompressor zstd_;
  Bytes compressed_;        // of the piece, what is not expanded yet
  std::uint64_t made_ = 0;  // bytes that the piece expanded to so far
  ExpansionBudget budget_;  // of all pieces
  Position piece_;          // the COMPRESSED record
  Position begun_before_;   // of a record that began in an earlier piece
  std::uint16_t part_ = 0;
  std::vector<std::byte> room_;  // expanded bytes that are not read yet lie at [begin_, end_)
  std::size_t begin_ = 0, end_ = 0;
  bool is_lost_ = false;
  std::uint64_t passed_over_ = 0;
};

}  // namespace perftape::perfdata
