// SPDX-License-Identifier: Apache-2.0
// The values of perftape-record's options for flight recordings.
#pragma once

#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/options.h"

namespace perftape::record_tool {

// A condition as trigger_spec.h describes it; a list of one.
Result<std::vector<record::TriggerSpec>> ParseTriggerOption(std::string_view option,
                                                            std::string_view text);

// Fails with kInvalidArgument if a trigger is for waits that are not recorded, or that
// --off-cpu-threshold sums.
Status CheckTriggers(const record::RecordOptions& options);

}  // namespace perftape::record_tool
