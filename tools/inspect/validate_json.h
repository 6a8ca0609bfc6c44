// SPDX-License-Identifier: Apache-2.0
// The findings of a validation as JSON.
#pragma once

#include <string>

#include "formats/perfdata/validate/report.h"

namespace perftape::inspect {

// Returns one line:
//
//   {"validate":{"clean":false,"errors":1,…,"breaks":["perf-7.3"],"findings":[
//    {"rule":"record-size-alignment","severity":"error","offset":424,"place":"0x1a8",
//    "record":"MMAP","message":"MMAP has 57 bytes, not a multiple of 8",
//    "breaks":["perf-7.3"]}],"counts":{"record-size-alignment":1}}}
//
// Bytes of names that are not UTF-8 become U+FFFD.
std::string ValidationJson(const perfdata::Report& report);

}  // namespace perftape::inspect
