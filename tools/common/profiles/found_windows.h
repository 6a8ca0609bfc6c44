// SPDX-License-Identifier: Apache-2.0
// Finds the windows of a critical path by the two events alone, so that of a large recording only
// the time of the chosen windows need be read.
#pragma once

#include <filesystem>
#include <vector>

#include "convert/combine.h"
#include "tools/common/profiles/time_view_options.h"

namespace perftape::cli {

// If the plan chooses among the windows between two events, finds them in its only input, a
// perf.data, and limits what is read to the time of the chosen ones: TimeViewOptions::found and
// ImportOptions::time. Otherwise, and if there are none, the plan stays as it is. `options` are
// those with which the input is read then. Fails as Combiner does.
Status FindWindows(const std::vector<std::filesystem::path>& inputs,
                   const convert::CombineOptions& options, TimeViewPlan& plan);

// Removes from a report that samples outside of the found windows were left out.
void ForgetOtherTimes(const TimeViewPlan& plan, convert::InputReport& report);

}  // namespace perftape::cli
