// SPDX-License-Identifier: Apache-2.0
// The samples of a perf.data as JSON, one line each.
#pragma once

#include <string>

#include "tools/inspect/sample_table.h"

namespace perftape::inspect {

// {"sample":{"event":"cycles","comm":"ls","pid":7,"tid":7,"cpu":0,"time_ns":1000,"period":10,"ip":
// "0x401136","dso":"ls","frames":["0x401136"]}} and a line end. Addresses are texts, since many
// readers of JSON keep only 53 bits of a number. cpu is null where it was not recorded; what is no
// UTF-8 in a name is replaced by U+FFFD.
std::string SampleJson(const SampleRow& row);

}  // namespace perftape::inspect
