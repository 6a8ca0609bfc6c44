// SPDX-License-Identifier: Apache-2.0
// Sizes in bytes as users write them, and perf: K, M and G are powers of 1024, in upper case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape {
inline namespace base {

// The units, for messages.
inline constexpr std::string_view kSizeUnits = "B, K, M or G";

// Decodes "100M" or "4096B". A number without a unit counts `unit` bytes; if that is 0, a unit is
// required. Returns UINT64_MAX for a size that does not fit, and nothing if `text` is not a whole
// number with at most one unit.
std::optional<std::uint64_t> SizeOf(std::string_view text, std::uint64_t unit);

// Returns the size with the largest unit that divides it: "64M", "65528B".
std::string SizeText(std::uint64_t bytes);

}  // namespace base
}  // namespace perftape
