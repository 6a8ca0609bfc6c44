// SPDX-License-Identifier: Apache-2.0
// The differences between two sets of profiles, by function and by stack. Functions are matched by
// their names and the names of their binaries, so the two sets can be of different builds. A binary
// that is on one side only is paired with one of the other side (renamed_binaries.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "convert/summarize/estimate.h"
#include "convert/summarize/renamed_binaries.h"

namespace perftape::summarize {

enum class Measure : std::uint8_t {
  kShare,   // of the event's total, from 0 to 1
  kWeight,  // the periods or plain values, or the numbers of samples
};

struct CompareOptions {
  Measure measure = Measure::kShare;
  bool stacks = false;        // also whole stacks
  bool by_inclusive = false;  // sort the functions by the change of `inclusive`
};

// One number before and after.
struct Change {
  Estimate before, after;
  Estimate difference() const { return DifferenceOf(before, after); }
};

struct FunctionChange {
  std::string function;  // "main"; "[libc.so.6]" for code without a name
  std::string binary;    // the last component of its path, of the new side
  Change self, inclusive;
};

struct StackChange {
  std::vector<std::string> frames;  // the names, innermost first
  Change self;
};

struct EventDifference {
  std::string event;
  std::string unit;
  Change total;  // the weight of the event
  std::int64_t samples_before = 0, samples_after = 0;
  RenamedBinaries renamed;                // binaries that have another name on the new side
  std::vector<FunctionChange> functions;  // the largest change is first
  std::vector<StackChange> stacks;        // if they were asked for; the largest change is first
};

// Returns a difference for each event, by name, that has samples in any of the profiles. A profile
// without the event counts as one without samples.
std::vector<EventDifference> Compare(std::span<const convert::Profile> before,
                                     std::span<const convert::Profile> after,
                                     const CompareOptions& options);

}  // namespace perftape::summarize
