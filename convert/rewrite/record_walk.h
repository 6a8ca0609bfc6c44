// SPDX-License-Identifier: Apache-2.0
// Walks through all records of a damaged stream, also those inside COMPRESSED records, and reports
// the bytes between them. Memory is bounded, whatever the records expand to.
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

// A file offset; for a record inside a COMPRESSED record also the offset in the expanded bytes.
struct StreamPosition {
  std::uint64_t offset = 0;
  std::uint64_t inside = 0;
  bool is_inside = false;
};

// "0x1a8", "0x1a8+0x30".
std::string TextOf(const StreamPosition& position);

// Bytes of the stream that are no record.
struct Stretch {
  StreamPosition position;
  std::uint64_t size = 0;
  std::string reason;
};

struct FoundRecord {
  perfdata::RecordView view;  // file_offset is that of the COMPRESSED record it was found in
  Bytes whole;                // header and payload
  StreamPosition position;
};

// Whether a walk continues after a record.
enum class Onward : std::uint8_t { kGoOn, kStop };

// A walk calls these in the order of the stream. Views live until the function returns. An error
// ends the walk.
struct RecordVisitor {
  std::function<Result<Onward>(const FoundRecord&)> record;
  std::function<void(const Stretch&)> dropped;
  std::function<void(const std::string&)> guessed;  // a type that was wrong and was guessed
};

class RecordWalk {
 public:
  // If `events` is empty, only frames are checked. It and the visitor must outlive the walk.
  RecordWalk(const perfdata::EventTable& events, std::endian order, const RecordVisitor& visitor);

  // Walks `stream`, which is at `offset` of its file. Call it once.
  Status Run(Bytes stream, std::uint64_t offset);

 private:
  // Expanded bytes that wait for the rest of a record, and the COMPRESSED records they came from.
  struct Expanded {
    std::vector<std::byte> bytes;
    std::uint64_t at = 0;  // of the first byte, counted over all that was expanded
    struct Source {
      std::uint64_t from;    // the first expanded byte that came from …
      std::uint64_t offset;  // … the COMPRESSED record here
    };
    std::deque<Source> sources;
    std::uint64_t fruitless = 0;  // bytes before `at` in which there was no record
  };

  Result<Onward> Handle(const Step& step, Bytes window, std::uint64_t offset);
  Result<Onward> Visit(const Step& step, Bytes window, const StreamPosition& position);
  bool IsLikelyCompressed(const Step& step) const;
  // Expands what it can of a COMPRESSED record's payload, and visits the records that become whole.
  Result<Onward> Expand(Bytes payload, std::uint64_t offset);
  Result<Onward> Drain(RecordScanner::Window extent);
  // Drops the expanded bytes that wait for the rest of a record.
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
  std::optional<std::string> zstd_problem_;  // until another frame begins
  Expanded expanded_;
  std::optional<Stretch> pending_;  // may grow by the bytes that follow
};

}  // namespace perftape::rewrite
