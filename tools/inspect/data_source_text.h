// SPDX-License-Identifier: Apache-2.0
// The word of PERF_SAMPLE_DATA_SRC as text.
#pragma once

#include <cstdint>
#include <string>

namespace perftape::inspect {

// "op=load|lvl=hit+L1|lvl_num=L0|region=mem1": the fields that are not 0, with the names of the
// PERF_MEM_* constants of include/uapi/linux/perf_event.h. A number without a name is shown as it
// is. Empty for 0.
std::string DataSourceText(std::uint64_t data_src);

}  // namespace perftape::inspect
