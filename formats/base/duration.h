// SPDX-License-Identifier: Apache-2.0
// A second in nanoseconds, and durations as users write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape {
inline namespace base {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// The units, for messages.
inline constexpr std::string_view kDurationUnits = "ns, us, ms, s, m, h or d";

// Decodes "500ms", "2.5s", "10m" (minutes; also "min") or "1h30m". A number without a unit counts
// `unit`; if that is 0, only "0" needs no unit. Returns nothing if `text` is not a duration, or is
// above 290 years.
std::optional<std::chrono::nanoseconds> DurationOf(std::string_view text,
                                                   std::chrono::nanoseconds unit);

// Returns "12.000000345" for a time in nanoseconds.
std::string SecondsText(std::uint64_t ns);

}  // namespace base
}  // namespace perftape
