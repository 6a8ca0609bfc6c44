// SPDX-License-Identifier: Apache-2.0
// All records of a damaged stream, those inside COMPRESSED records included, and the stretches
// between them that are none. Memory is bounded, whatever the records expand to.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convert/rewrite/resync.h"
#include "formats/base/result.h"
#include "formats/base/zstd.h"
#include "formats/perfdata/expander.h"

namespace perftape::rewrite {

// Where something lies: at an offset of the file, or at one of what the COMPRESSED record there
// expands to.
struct Place {
  std::uint64_t offset = 0;
  std::uint64_t inside = 0;
  bool is_inside = false;
};

// "0x1a8", "0x1a8+0x30".
std::string TextOf(const Place& place);

// A stretch of the stream that gave no record.
struct Stretch {
  Place place;
  std::uint64_t size = 0;
  std::string reason;
};

struct FoundRecord {
  perfdata::RecordView view;  // file_offset is that of the COMPRESSED record it was found in
  Bytes whole;                // header and payload
  Place place;
};

// Whether a walk goes on behind a record.
enum class Onward : std::uint8_t { kGoOn, kStop };

// What a walk tells, in the order of the stream. Views live until the function returns. An error
// ends the walk.
struct RecordVisitor {
  std::function<Result<Onward>(const FoundRecord&)> record;
  std::function<void(const Stretch&)> dropped;
  std::function<void(const std::string&)>
      guessed;  // what was taken for something else than it says
};

class RecordWalk {
 public:
  // `events` may be empty, then records are judged by their frames alone. It and the visitor must
  // outlive the walk.
  RecordWalk(const perfdata::EventTable& events, std::endian order, const RecordVisitor& visitor);

  // Walks `stream`, which lies at `offset` of its file. To be called once.
  Status Run(Bytes stream, std::uint64_t offset);

 private:
  // The bytes of expanded records that wait for the rest of one, and where they came from.
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
  Result<Onward> Visit(const Step& step, Bytes window, const Place& place);
  bool IsLikelyCompressed(const Step& step) const;
  // Expands what it can of a COMPRESSED record's payload, and visits the records that become whole.
  Result<Onward> Expand(Bytes payload, std::uint64_t offset);
  Result<Onward> Drain(RecordScanner::Window extent);
  // Drops what waits to become a record.
  void AbandonExpanded();
  void Drop(const Place& place, std::uint64_t size, std::string_view reason);
  void FlushDropped();
  Place PlaceInside(std::uint64_t at);

  const perfdata::EventTable& events_;
  std::endian order_;
  const RecordVisitor& visitor_;
  RecordScanner outer_, inner_;
  ZstdDecompressor zstd_;
  perfdata::ExpansionBudget budget_;
  std::optional<std::string> zstd_problem_;  // until another frame begins
  Expanded expanded_;
  std::optional<Stretch> pending_;  // may grow by what follows
};

}  // namespace perftape::rewrite
