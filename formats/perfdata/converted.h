// SPDX-License-Identifier: Apache-2.0
// What tells a perf.data that was made of a profile of another format from a recording, so that it
// can be read back exactly. To perf all of it is an ordinary file:
//
//   events       the mark is in config1 and config2, which are of no meaning to the types used
//                (include/uapi/linux/perf_event.h). What perf has no type for is a
//                software event of a number that the kernel does not have: of
//                PERF_COUNT_SW_DUMMY, which would seem to be made for this, `perf script` prints no
//                frames (builtin-script.c, find_first_output_type).
//   functions    are KSYMBOL records of type PERF_RECORD_KSYMBOL_TYPE_UNKNOWN, which the kernel
//                never writes (kernel/events/core.c, perf_event_ksymbol), so that perf shows their
//                names without any other file (tools/perf/util/machine.c,
//                machine__process_ksymbol_register). Those of the kernel are in the upper half of
//                the addresses, all others in the lower one.
//   no thread    is pid and tid kNoThread, which no Linux gives to anyone (PID_MAX_LIMIT).
#pragma once

#include <cstdint>
#include <optional>

#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

inline constexpr std::uint64_t kSoftwareOfProfile = 0xffff;

struct ConvertedEvent {
  bool is_plain = false;       // each record is one value, which stands in its period
  std::uint8_t decimals = 0;   // the value is so many decimal digits too large
  bool times_made_up = false;  // the profile did not say how long it took ...
  bool arch_made_up = false;   // ... or on which machine

  bool operator==(const ConvertedEvent&) const = default;
};

// Sets config1 and config2.
void MarkConverted(const ConvertedEvent& event, EventAttr& attr);
// Nothing for an event of a recording.
std::optional<ConvertedEvent> ConvertedEventOf(const EventAttr& attr);

// Not among the 2^22 that a Linux has at most (include/linux/threads.h).
inline constexpr std::uint32_t kNoThread = 0x7fff'ffff;

// Functions have kFunctionSize bytes each. The first address is not 0, which perf takes for none.
inline constexpr std::uint64_t kFirstUserFunction = 0x10000;
// Below all that Linux on x86 has in /proc/kallsyms: hotspot looks addresses up there.
inline constexpr std::uint64_t kFirstKernelFunction = 0xffff'0000'0000'0000;
inline constexpr std::uint32_t kFunctionSize = 16;

inline constexpr std::uint16_t kKsymbolTypeUnknown = 0;

// Whether a region of a converted file is one of its functions. It may have an empty name.
inline bool IsFunction(const Region& region) {
  return region.dso->is_kernel && region.dso->symbol == region.dso->path &&
         region.end - region.start == kFunctionSize;
}
// Whether a function is the kernel's.
constexpr bool IsKernelFunction(std::uint64_t address) {
  return address >> 63 != 0;
}

}  // namespace perftape::perfdata
