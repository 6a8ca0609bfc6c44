// SPDX-License-Identifier: Apache-2.0
// Names of functions that fit into a column. The arguments of templates and the parameters are left
// out first, then the middle: names often differ at the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perftape::report_tool {

// Returns the number of code points of valid UTF-8.
std::size_t WidthOf(std::string_view text);

// Returns the name if it has at most `width` code points, otherwise a shorter one with "…" for what
// is left out. `name` must be valid UTF-8. Leading spaces and arrows of a tree stay.
std::string ShortName(std::string_view name, std::size_t width);

// Returns ShortName of each name. Different names stay different, unless `width` is too small even
// for a number at their end.
std::vector<std::string> ShortNames(const std::vector<std::string>& names, std::size_t width);

}  // namespace perftape::report_tool
