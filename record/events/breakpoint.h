// SPDX-License-Identifier: Apache-2.0
// An event of the CPU's debug registers: each access to an address is counted. The syntax is
// perf's: mem:ADDRESS[/LENGTH][:ACCESS], where ACCESS is made of r, w and x.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"

namespace perftape::record {

struct Breakpoint {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint32_t access = 0;  // HW_BREAKPOINT_R, _W and _X of linux/hw_breakpoint.h

  bool operator==(const Breakpoint&) const = default;
};

bool IsBreakpoint(std::string_view event);

// Reads `event` without modifiers. Reads and writes of 4 bytes are the default, as in perf; an
// executed instruction has the length of a long. Fails with kInvalidArgument.
Result<Breakpoint> ParseBreakpoint(std::string_view event);

// Sets type, address, length and access.
void SetBreakpoint(const Breakpoint& breakpoint, perfdata::EventAttr& attr);

}  // namespace perftape::record
