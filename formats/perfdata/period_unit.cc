// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/period_unit.h"

namespace perftape::perfdata {

std::string_view PeriodUnitOf(const EventAttr& attr, std::string_view name) {
  constexpr std::string_view kOffCpu = "offcpu-time";
  const bool is_clock = attr.type == kTypeSoftware &&
                        (attr.config == kSoftwareCpuClock || attr.config == kSoftwareTaskClock);
  return is_clock || name.substr(0, name.find(':')) == kOffCpu ? kNanoseconds : kCount;
}

}  // namespace perftape::perfdata
