// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/period_unit.h"

namespace perftape::perfdata {

std::string_view PeriodUnitOf(const EventAttr& attr, std::string_view name) {
  constexpr std::string_view kOffCpu = "offcpu-time";
  const bool is_clock = attr.type == kTypeSoftware &&
                        (attr.config == kSoftwareCpuClock || attr.config == kSoftwareTaskClock);
  const std::string_view plain = name.substr(0, name.find(':'));
  return is_clock || plain == kOffCpu || plain == kLockTime ? kNanoseconds : kCount;
}

}  // namespace perftape::perfdata
