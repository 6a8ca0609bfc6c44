// SPDX-License-Identifier: Apache-2.0
// The samples of a perf.data for other tools and tests, one line each: as a table and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "convert/records/sample_rows.h"

namespace perftape::inspect {

// Whether the table has a column with the fields of tracepoints.
enum class FieldColumn : std::uint8_t { kNone, kLast };

// "event\tcomm\tpid\ttid\tcpu\ttime_ns\tperiod\tip\tdso\tnframes\tframes\n"; kLast adds
// "\tfields".
std::string SampleTableHead(FieldColumn column = FieldColumn::kNone);

// Returns one line. Addresses are hexadecimal without 0x, and frames are separated by commas.
// Control characters in names are escaped, so that a name is always a single column. The fields of
// a tracepoint are separated by spaces: prev_comm="ls" prev_pid=7. A wakeup has woken="ls"
// woken_tid=7.
std::string RowText(const records::SampleRow& row, FieldColumn column = FieldColumn::kNone);

// Returns a line with its end:
//
//   {"sample":{"event":"cycles","comm":"ls","pid":7,"tid":7,"cpu":0,"time_ns":1000,"period":10,
//    "ip":"0x401136","dso":"ls","frames":["0x401136"]}}
//
// Addresses are strings, because many JSON readers keep only 53 bits of a number. cpu is null if it
// was not recorded. "cgroup" is the path of the control group, if recorded. "fields" is an object
// with the fields of a tracepoint by name, if the file has its format. Bytes of names that are not
// UTF-8 become U+FFFD.
std::string SampleJson(const records::SampleRow& row);

}  // namespace perftape::inspect
