// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::perfdata {

// Returns whether the address of the event's samples is the tid of the thread that they woke: the
// event of perftape-record --wakers. `name` may end with modifiers.
inline bool HasWokenThread(const EventAttr& attr, std::string_view name) {
  return attr.type == kTypeSoftware && attr.config == kSoftwareBpfOutput &&
         name.substr(0, name.find(':')) == kWakeup && (attr.sample_type & kAddr) != 0;
}

}  // namespace perftape::perfdata
