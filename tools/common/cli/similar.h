// SPDX-License-Identifier: Apache-2.0
// What a user who mistyped a word may have meant.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace perftape::cli {

// How many letters must be put in, taken away or exchanged to make `a` of `b`.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The names that begin with `word`; without any, those that are nearest to it, if they are near. As
// git does (help_unknown_cmd).
std::vector<std::string_view> MostSimilar(std::string_view word,
                                          std::span<const std::string_view> names);

}  // namespace perftape::cli
