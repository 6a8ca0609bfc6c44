// SPDX-License-Identifier: Apache-2.0
// Shares of a time.
#pragma once

#include <cstdint>

namespace perftape::timeline {

__extension__ using Int128 = __int128;

// Returns `whole` * `part` / `total`, rounded towards 0; `total` must not be 0. For increasing
// parts, the differences of the results add up to exactly `whole`.
constexpr std::int64_t ShareOf(std::int64_t whole, Int128 part, Int128 total) {
  return static_cast<std::int64_t>(whole * part / total);
}

}  // namespace perftape::timeline
