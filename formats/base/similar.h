// SPDX-License-Identifier: Apache-2.0
// Suggests words that are similar to a mistyped one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace perftape {
inline namespace base {

// Returns the number of letters that must be inserted, deleted or replaced to turn `b` into `a`.
std::size_t EditDistance(std::string_view a, std::string_view b);

// Returns the names that begin with `word`. If there are none, returns the names with the smallest
// edit distance, if that is small, as git does (help_unknown_cmd).
std::vector<std::string_view> MostSimilar(std::string_view word,
                                          std::span<const std::string_view> names);

}  // namespace base
}  // namespace perftape
