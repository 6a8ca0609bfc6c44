// SPDX-License-Identifier: Apache-2.0
// The message of readers where a file ends and another one of the same format begins. `cat a b > c`
// works for text, but not for most other profiles.
#pragma once

#include <string_view>

namespace perftape {
inline namespace base {

inline constexpr std::string_view kJoinedFiles =
    "another file begins here, as if joined with cat: name the files one by one instead";

}  // namespace base
}  // namespace perftape
