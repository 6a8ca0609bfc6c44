// SPDX-License-Identifier: Apache-2.0
// perftape-convert under the name and with the options of perf_data_converter's program
// perf_to_profile. google/pprof runs that program for a perf.data (internal/driver/fetch.go,
// convertPerfData):
//
//   perf_to_profile -i perf.data -o out.pb.gz -f
#pragma once

#include <string_view>

#include "tools/convert/command_line.h"

namespace perftape::convert_tool {

// Its name.
inline constexpr std::string_view kPerfToProfile = "perf_to_profile";

// Returns whether a program that was started by this path is perf_to_profile.
bool IsPerfToProfile(std::string_view program);

const cli::Command& PerfToProfileCommand();

// Fails with kInvalidArgument for usage errors.
Result<Plan> PlanOfPerfToProfile(Plan plan);

// pprof opens the output, as an empty file, before it runs perf_to_profile, and reads from that
// descriptor. For such an output this opens the file as stdout, and the plan writes to stdout. Any
// other output is unchanged. Fails with kIo, or as opening the file does.
Status TakeOverEmptyOutput(Plan& plan);

// Converts a status of perftape-convert for pprof, which ignores a profile unless the status is 0.
// So kDegraded becomes kDone.
int StatusForPprof(int status);

}  // namespace perftape::convert_tool
