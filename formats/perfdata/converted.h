// SPDX-License-Identifier: Apache-2.0
// Marks a perf.data that was converted from a profile of another format, so that the profile can be
// read back exactly. perf reads it like any other file:
//
//   events       config1 and config2 contain the mark. They have no meaning for the types of event
//                that are used (include/uapi/linux/perf_event.h). A value without a type in perf is
//                a software event with a number that the kernel does not have. PERF_COUNT_SW_DUMMY
//                is not used, because `perf script` prints no frames for it (builtin-script.c,
//                find_first_output_type).
//   functions    A function is a KSYMBOL record of type PERF_RECORD_KSYMBOL_TYPE_UNKNOWN, which the
//                kernel never writes (kernel/events/core.c, perf_event_ksymbol). So perf shows its
//                name without any other file (tools/perf/util/machine.c,
//                machine__process_ksymbol_register). Kernel functions have addresses in the upper
//                half of the address space, all others in the lower half.
//   no thread    pid and tid are kNoThread, which Linux never assigns (PID_MAX_LIMIT).
#pragma once

#include <cstdint>
#include <optional>

#include "formats/base/addresses.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

inline constexpr std::uint64_t kSoftwareOfProfile = 0xffff;

struct ConvertedEvent {
  bool is_plain = false;       // each record is one value, and its period is this value
  std::uint8_t decimals = 0;   // the value is multiplied by 10^decimals
  bool times_made_up = false;  // the profile contains no duration
  bool arch_made_up = false;   // the profile does not name the machine

  bool operator==(const ConvertedEvent&) const = default;
};

// Encodes the event in config1 and config2 of `attr`.
void MarkConverted(const ConvertedEvent& event, EventAttr& attr);
// The event that MarkConverted encoded; nothing for an event of a recording.
std::optional<ConvertedEvent> ConvertedEventOf(const EventAttr& attr);

// Larger than the 2^22 ids that Linux has at most (include/linux/threads.h).
inline constexpr std::uint32_t kNoThread = 0x7fff'ffff;

// Each function has kFunctionSize bytes. The first address is not 0, because 0 means no address in
// perf.
inline constexpr std::uint64_t kFirstUserFunction = 0x10000;
// Below all addresses in /proc/kallsyms of Linux on x86, because hotspot looks addresses up there.
inline constexpr std::uint64_t kFirstKernelFunction = 0xffff'0000'0000'0000;
inline constexpr std::uint32_t kFunctionSize = 16;

inline constexpr std::uint16_t kKsymbolTypeUnknown = 0;

// Whether a region of a converted file is a function. Its name may be empty.
inline bool IsFunction(const Region& region) {
  return region.dso->is_kernel && region.dso->symbol == region.dso->path &&
         region.end - region.start == kFunctionSize;
}
// Whether the address of a function is that of a kernel function.
constexpr bool IsKernelFunction(std::uint64_t address) {
  return IsInKernelHalf(address);
}

}  // namespace perftape::perfdata
