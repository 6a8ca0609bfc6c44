// SPDX-License-Identifier: Apache-2.0
// The values of a sample of a memory access.
#pragma once

#include <cstdint>
#include <string>

#include "convert/script/options.h"

namespace perftape::listing {

// Appends "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"
// (tools/perf/util/mem-events.c, perf_script__meminfo_scnprintf).
void AppendDataSource(std::string& out, std::uint64_t data_src, Style style);

// Appends "4K", "2M"; "N/A" for 0.
void AppendPageSize(std::string& out, std::uint64_t size);

}  // namespace perftape::listing
