// SPDX-License-Identifier: Apache-2.0
// perftape-convert under the name and with the options of perf_data_converter's program, which
// google/pprof runs for a perf.data (internal/driver/fetch.go, convertPerfData):
//
//   perf_to_profile -i perf.data -o out.pb.gz -f
#pragma once

#include <string_view>

#include "tools/convert/command_line.h"

namespace perftape::convert_tool {

// Whether a program that was started by this path is perf_to_profile.
bool IsPerfToProfile(std::string_view program);

const cli::Command& PerfToProfileCommand();

// kInvalidArgument for usage errors.
Result<Plan> PlanOfPerfToProfile(Plan plan);

// pprof has the output open, and empty, before it asks, and reads on from there: such a file is
// made stdout, and the plan writes to that. Any other output stays what the plan says. kIo, or what
// opening gives.
Status TakeOverEmptyOutput(Plan& plan);

// What a status of perftape-convert is for pprof, which has no use for a profile whose maker did
// not end with 0: done, though the input was damaged, is done.
int StatusForPprof(int status);

}  // namespace perftape::convert_tool
