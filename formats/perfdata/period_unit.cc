// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/period_unit.h"

namespace perftape::perfdata {

std::string_view PeriodUnitOf(const EventAttr& attr, std::string_view name) {
  const std::string_view plain = name.substr(0, name.find(':'));
  const bool is_software = attr.type == kTypeSoftware;
  const bool is_clock = is_software && (attr.config == kSoftwareCpuClock ||  //
                                        attr.config == kSoftwareTaskClock);
  const bool is_wait =
      plain == kOffCpuTime || plain == kLockTime ||
      (is_software && attr.config == kSoftwareBpfOutput &&
       (plain == kOffCpuDiskTime || plain == kOffCpuRunnableTime || plain == kWakeup));
  return is_clock || is_wait ? kNanoseconds : kCount;
}

}  // namespace perftape::perfdata
