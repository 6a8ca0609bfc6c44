// SPDX-License-Identifier: Apache-2.0
// The samples of a perf.data as JSON, one line each.
#pragma once

#include <string>

#include "tools/inspect/sample_table.h"

namespace perftape::inspect {

// Returns a line with its end:
//
//   {"sample":{"event":"cycles","comm":"ls","pid":7,"tid":7,"cpu":0,"time_ns":1000,"period":10,
//    "ip":"0x401136","dso":"ls","frames":["0x401136"]}}
//
// Addresses are strings, because many JSON readers keep only 53 bits of a number. cpu is null if it
// was not recorded. "cgroup" is the path of the control group, if recorded. "fields" is an object
// with the fields of a tracepoint by name, if the file has its format. Bytes of names that are not
// UTF-8 become U+FFFD.
std::string SampleJson(const SampleRow& row);

}  // namespace perftape::inspect
