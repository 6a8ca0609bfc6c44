// SPDX-License-Identifier: Apache-2.0
// Visits all records of a damaged stream, including those inside COMPRESSED records, and reports
// the bytes between them. Memory is bounded, whatever the size of the expanded records.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convert/rewrite/record_scanner.h"
#include "formats/base/result.h"
#include "formats/base/zstd.h"
#include "formats/perfdata/expander.h"

namespace perftape::rewrite {

// A file offset. For a record inside a COMPRESSED record it also has the offset in the expanded
// bytes.
struct StreamPosition {
  std::uint64_t offset = 0;
  std::uint64_t inside = 0;
  bool is_inside = false;
};

// Returns "0x1a8" or "0x1a8+0x30".
std::string TextOf(const StreamPosition& position);

// Bytes of the stream that are not a record.
struct Stretch {
  StreamPosition position;
  std::uint64_t size = 0;
  std::string reason;
};

struct FoundRecord {
  perfdata::RecordView view;  // file_offset is that of the COMPRESSED record that contains it
  Bytes whole;                // header and payload
  StreamPosition position;
};

// Whether a walk continues after a record.
enum class Onward : std::uint8_t { kGoOn, kStop };

// A walk calls these functions in stream order. Views are valid until the function returns. An
// error ends the walk.
struct RecordVisitor {
  std::function<Result<Onward>(const FoundRecord&)> record;
  std::function<void(const Stretch&)> dropped;
  std::function<void(const std::string&)> guessed;  // a wrong type that was guessed
};

class RecordWalk {
 public:
  // If `events` is empty, only frames are checked. `events` and the visitor must outlive the walk.
  RecordWalk(const perfdata::EventTable& events, std::endian order, const RecordVisitor& visitor);

  // Walks `stream`, which starts at `offset` in its file. Call it once.
  Status Run(Bytes stream, std::uint64_t offset);

 private:
  // Expanded bytes of a record whose rest is still missing, and the COMPRESSED records they came
  // from.
  struct Expanded {
    std::vector<std::byte> bytes;
    std::uint64_t at = 0;  // offset of the first byte in all expanded bytes
    struct Source {
      std::uint64_t from;    // the first expanded byte that came from …
      std::uint64_t offset;  // … the COMPRESSED record at this offset
    };
    std::deque<Source> sources;
    std::uint64_t fruitless = 0;  // number of bytes before `at` without a record
  };

  Result<Onward> Handle(const Step& step, Bytes window, std::uint64_t offset);
  Result<Onward> Visit(const Step& step, Bytes window, const StreamPosition& position);
  bool IsLikelyCompressed(const Step& step) const;
  // Expands as much as possible of a COMPRESSED record's payload, and visits the records that are
  // now complete.
  Result<Onward> Expand(Bytes payload, std::uint64_t offset);
  Result<Onward> Drain(RecordScanner::Window extent);
  // Drops the expanded bytes of an incomplete record.
  void AbandonExpanded();
  void Drop(const StreamPosition& position, std::uint64_t size, std::string_view reason);
  void FlushDropped();
  StreamPosition PositionInside(std::uint64_t at);

  const perfdata::EventTable& events_;
  std::endian order_;
  const RecordVisitor& visitor_;
  RecordScanner outer_, inner_;
  ZstdDecompressor zstd_;
  perfdata::ExpansionBudget budget_;
  std::optional<std::string> zstd_problem_;  // set until another zstd frame begins
  Expanded expanded_;
  std::optional<Stretch> pending_;  // may be extended by the next bytes
};

}  // namespace perftape::rewrite
