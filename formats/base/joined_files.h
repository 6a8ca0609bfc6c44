// SPDX-License-Identifier: Apache-2.0
// What readers say where a file ends and another one of the same format begins. `cat a b > c` is
// right for text, and wrong for most other profiles.
#pragma once

#include <string_view>

namespace perftape {
inline namespace base {

inline constexpr std::string_view kJoinedFiles =
    "another file begins here, as if joined with cat: name the files one by one instead";

}  // namespace base
}  // namespace perftape
