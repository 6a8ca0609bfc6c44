// SPDX-License-Identifier: Apache-2.0
// The samples of a profile by a property of each sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/summarize/amount.h"

namespace perftape::summarize {

enum class Property : std::uint8_t { kComm, kPid, kTid, kDso, kCgroup, kCpu, kLabel };

struct GroupBy {
  Property property = {};
  // For kLabel, the key, or the name of a field of tracepoints whose key is "field:NAME"
  // (FieldLabelKey). The field is meant if both exist.
  std::string label = {};
};

struct GroupAmount {
  std::string name;  // "nginx", "17"; empty for samples that do not have the property
  Amount amount;
};

// Returns the key of the label that `by` means: of those that samples of the profile have. Empty if
// none has it.
std::string LabelKeyOf(const convert::Profile& profile, const GroupBy& by);

// Returns a group for each value of the property. The largest group is first; then by name. The dso
// is the binary of the innermost frame.
std::vector<GroupAmount> SumGroups(const convert::Profile& profile, const StackAmounts& amounts,
                                   const GroupBy& by);

}  // namespace perftape::summarize
