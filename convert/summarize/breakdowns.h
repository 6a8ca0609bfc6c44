// SPDX-License-Identifier: Apache-2.0
// What was spent, by function, by source line, and by a property of the samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/summarize/amount.h"

namespace perftape::summarize {

// The functions of a profile with what was spent in each of them.
struct FunctionAmounts {
  convert::FrameId frame;
  Amount self;       // of samples whose innermost frame it is
  Amount inclusive;  // of samples that have it anywhere; counted once if it is recursive
};

// Returns all frames that have samples. The largest `self` is first, then the largest `inclusive`,
// then by name.
std::vector<FunctionAmounts> SumFunctions(const convert::Profile& profile,
                                          const convert::FrameTable& frames,
                                          const StackAmounts& amounts);

// The amount by which functions are sorted.
enum class SortBy : std::uint8_t { kSelf, kTotal };

// Sorts by `inclusive` first.
void SortByInclusive(std::vector<FunctionAmounts>& functions);

// The source lines of some functions with what was spent in each of them.
struct LineAmounts {
  std::string filename;     // of the source; empty if unknown
  std::int64_t number = 0;  // 0 if unknown
  convert::FrameId frame = {};
  Amount self = {}, inclusive = {};
};

// Returns the lines of the frames that are selected, by FrameId. The lines are sorted by function,
// file and number.
std::vector<LineAmounts> SumLines(const convert::Profile& profile,
                                  const convert::FrameTable& frames, const StackAmounts& amounts,
                                  const std::vector<bool>& selected);

// The samples of a profile by a property of each sample.
enum class Property : std::uint8_t {
  kComm,
  kPid,
  kTid,
  kDso,
  kCgroup,
  kPod,
  kUnit,
  kService,
  kCpu,
  kLabel
};

struct GroupBy {
  Property property = {};
  // For kLabel, the key, or the name of a field of tracepoints whose key is "field:NAME"
  // (FieldLabelKey). If both exist, it means the field.
  std::string label = {};
};

struct GroupAmount {
  std::string name;  // "nginx", "17"; empty for samples that do not have the property
  Amount amount;
};

// Returns the key of the label that `by` means, among those of the profile's samples. Empty if no
// sample has it.
std::string LabelKeyOf(const convert::Profile& profile, const GroupBy& by);

// Returns a group for each value of the property. The largest group is first; then by name. The dso
// is the binary of the innermost frame. A pod is NAMESPACE/NAME; a container without one has its
// own name.
std::vector<GroupAmount> SumGroups(const convert::Profile& profile, const StackAmounts& amounts,
                                   const GroupBy& by);

}  // namespace perftape::summarize
