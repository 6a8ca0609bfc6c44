// SPDX-License-Identifier: Apache-2.0
// Finds records in bytes that may be damaged anywhere. While in step, each record starts where the
// previous one ends. If there is no record there, the scanner searches for an offset at which
// several records follow each other.
//
//   RecordScanner scanner(events, order);
//   while (!window.empty()) {
//     const Step step = scanner.Next(window, Window::kAll);
//     ...
//     window = window.subspan(step.size);
//   }
//
// It reads each byte a bounded number of times, for any input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convert/rewrite/record_check.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/reader.h"

namespace perftape::rewrite {

struct Step {
  enum class Kind : std::uint8_t {
    kRecord,   // a valid record, or one of unknown type that is followed by others
    kDamaged,  // a record with a valid frame and an invalid body
    kGap,      // bytes that are not a record
    kMore,     // more bytes are needed to decide
  };
  Kind kind = Kind::kMore;
  std::uint64_t size = 0;   // in bytes; 0 for kMore
  Frame frame = {};         // for kRecord and kDamaged
  std::string reason = {};  // why it is kDamaged or kGap; empty if the gap began earlier
};

class RecordScanner {
 public:
  enum class Window : std::uint8_t { kAll, kMoreFollows };

  // A window of this size never yields kMore.
  static constexpr std::size_t kLongestWindow = std::size_t{5} << 16;

  // If `events` is empty, only frames are checked. `events` must outlive the scanner.
  RecordScanner(const perfdata::EventTable& events, std::endian order)
      : events_(&events), order_(order) {}

  // Returns what is at the start of `window`, which must start where the last step ended. If the
  // window is not empty, the step is kMore or has a size above 0.
  Step Next(Bytes window, Window extent);

  // Returns whether a record starts at the expected offset `at` and others follow it.
  bool IsChain(Bytes window, std::size_t at, Window extent) const {
    return IsChain(window, at, extent, Odds::kLikely);
  }

 private:
  Step InStep(Bytes window, Window extent);
  Step Search(Bytes window, std::size_t from, std::string reason, Window extent);
  Step Accept(const Frame& frame);
  // Returns the first offset in [from, to) where a chain begins.
  std::optional<std::size_t> FindChain(Bytes window, std::size_t from, std::size_t to,
                                       Window extent) const;
  // Whether a record is expected at an offset.
  enum class Odds : std::uint8_t { kLikely, kUnlikely };
  bool IsChain(Bytes window, std::size_t at, Window extent, Odds odds) const;
  // Returns how many records must follow this one for it to count as a record.
  int FollowersFor(const perfdata::RecordView& record, Odds odds) const;
  bool IsLikelyNext(Bytes rest, Window extent) const;
  bool AreLikelyNext(Bytes rest, Window extent) const;
  std::uint64_t TimeOf(const perfdata::RecordView& stored) const;

  const perfdata::EventTable* events_;
  std::endian order_;
  bool in_step_ = true;
  std::uint64_t skipped_ = 0;  // bytes of the current gap
  std::uint64_t last_time_ = 0;
};

}  // namespace perftape::rewrite
