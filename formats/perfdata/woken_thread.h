// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/converted.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::perfdata {

// Whether an event of this name is that of perftape-record --wakers. `name` may end with modifiers.
constexpr bool IsWakeup(std::string_view name) {
  return name.substr(0, name.find(':')) == kWakeup;
}

// Returns whether the address of the event's samples is the tid of the thread that they woke: the
// event of perftape-record --wakers, also in a file that was converted from another format.
inline bool HasWokenThread(const EventAttr& attr, std::string_view name) {
  const bool is_ours = attr.config == kSoftwareBpfOutput || attr.config == kSoftwareOfProfile;
  return attr.type == kTypeSoftware && is_ours && IsWakeup(name) && (attr.sample_type & kAddr) != 0;
}

}  // namespace perftape::perfdata
