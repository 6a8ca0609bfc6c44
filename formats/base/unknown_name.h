// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace perftape {
inline namespace base {

// What perf and pprof show for a function, file or thread whose name is not known.
inline constexpr std::string_view kUnknownName = "[unknown]";

}  // namespace base
}  // namespace perftape
