// SPDX-License-Identifier: Apache-2.0
// Finds records in bytes that may be damaged anywhere. In step, a record ends where the next one
// begins; where that leads to no record, the bytes are searched for a place from which several
// records follow one another.
//
//   RecordScanner scanner(events, order);
//   while (!window.empty()) {
//     const Step step = scanner.Next(window, Window::kAll);
//     ...
//     window = window.subspan(step.size);
//   }
//
// Each byte is looked at a bounded number of times, whatever the bytes are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "convert/rewrite/plausible.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/reader.h"

namespace perftape::rewrite {

struct Step {
  enum class Kind : std::uint8_t {
    kRecord,   // a record that reads, or one of unknown type that others follow
    kDamaged,  // a record whose frame is whole and whose body is not
    kGap,      // bytes that are no record
    kMore,     // more bytes are needed to tell
  };
  Kind kind = Kind::kMore;
  std::uint64_t size = 0;   // how many bytes it takes; 0 for kMore
  Frame frame = {};         // of a record and of a damaged one
  std::string reason = {};  // why it is damaged, or a gap; empty for the rest of a gap that began
                            // in an earlier step
};

class RecordScanner {
 public:
  enum class Window : std::uint8_t { kAll, kMoreFollows };

  // kMore is never said to a window of this size.
  static constexpr std::size_t kLongestWindow = std::size_t{5} << 16;

  // `events` may be empty: then only frames are judged. It must outlive the scanner.
  RecordScanner(const perfdata::EventTable& events, std::endian order)
      : events_(&events), order_(order) {}

  // What is at the front of `window`, which begins where the last step ended. A window that is not
  // empty always gets an answer of a size above 0, kMore aside.
  Step Next(Bytes window, Window extent);

  // Whether a record begins at `at`, as something says, and others follow it.
  bool IsChain(Bytes window, std::size_t at, Window extent) const {
    return IsChain(window, at, extent, Odds::kLikely);
  }

 private:
  Step InStep(Bytes window, Window extent);
  Step Search(Bytes window, std::size_t from, std::string reason, Window extent);
  Step Accept(const Frame& frame);
  // The first place in [from, to) where a chain begins.
  std::optional<std::size_t> FindChain(Bytes window, std::size_t from, std::size_t to,
                                       Window extent) const;
  // Whether a place is one where a record could be expected.
  enum class Odds : std::uint8_t { kLikely, kUnlikely };
  bool IsChain(Bytes window, std::size_t at, Window extent, Odds odds) const;
  // How many records must follow this one, to believe that it is one.
  int FollowersFor(const perfdata::RecordView& record, Odds odds) const;
  bool IsLikelyNext(Bytes rest, Window extent) const;
  bool AreLikelyNext(Bytes rest, Window extent) const;
  std::uint64_t TimeOf(const perfdata::RecordView& stored) const;

  const perfdata::EventTable* events_;
  std::endian order_;
  bool in_step_ = true;
  std::uint64_t skipped_ = 0;  // bytes of the gap so far
  std::uint64_t last_time_ = 0;
};

}  // namespace perftape::rewrite
