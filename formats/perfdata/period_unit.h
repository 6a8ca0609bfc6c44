// SPDX-License-Identifier: Apache-2.0
// The units of the numbers that samples carry.
#pragma once

#include <string_view>

namespace perftape::perfdata {

inline constexpr std::string_view kNanoseconds = "nanoseconds";
inline constexpr std::string_view kCount = "count";

}  // namespace perftape::perfdata
