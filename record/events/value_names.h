// SPDX-License-Identifier: Apache-2.0
// The names of a tracepoint field's values: what __print_symbolic and __print_flags of its "print
// fmt" print instead of a number (include/trace/stages/stage3_trace_output.h):
//
//   print fmt: "reason: %s", __print_symbolic(REC->reason, { 2, "NOT_SPECIFIED" }, ...)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace perftape::record {

struct ValueName {
  std::string name;         // "NO_SOCKET"
  std::uint64_t value = 0;  // a negative one in two's complement
  bool is_negative = false;

  bool operator==(const ValueName&) const = default;
};

// Returns the names of the values of `field` in the text of a format file, in its order. Values
// that the kernel prints as an expression, such as "TCP_LISTEN" or "(1UL << 3)", are left out.
std::vector<ValueName> ValueNamesOf(std::string_view format_file, std::string_view field);

}  // namespace perftape::record
