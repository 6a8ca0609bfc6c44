// SPDX-License-Identifier: Apache-2.0
// What a file was found guilty of, as JSON.
#pragma once

#include <string>

#include "formats/perfdata/validate/report.h"

namespace perftape::inspect {

// One line: {"validate":{"clean":false,"errors":1,…,"breaks":["perf-newest"],"findings":[{"rule":
// "record-size-alignment","severity":"error","offset":424,"place":"0x1a8","record":"MMAP",
// "message":"MMAP of 57 bytes","breaks":["perf-newest"]}],"counts":{"record-size-alignment":1}}}.
// What is no UTF-8 in a name is replaced by U+FFFD.
std::string ValidationJson(const perfdata::Report& report);

}  // namespace perftape::inspect
