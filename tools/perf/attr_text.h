// SPDX-License-Identifier: Apache-2.0
// A perf_event_attr as perf prints it (tools/perf/util/perf_event_attr_fprintf.c of Linux 6.1).
#pragma once

#include <string>

#include "formats/perfdata/attr.h"

namespace perftape::perf_tool {

// Returns "type: 1, size: 128, { sample_period, sample_freq }: 4000, ...": the fields that are not
// zero, in the order of the struct. Bits that perf 6.1 does not know are shown as a number.
std::string PerfAttrText(const perfdata::EventAttr& attr);

}  // namespace perftape::perf_tool
