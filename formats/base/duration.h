// SPDX-License-Identifier: Apache-2.0
// Durations as users write them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace perftape {

// The units, for messages.
inline constexpr std::string_view kDurationUnits = "ns, us, ms, s, m, h or d";

// Decodes "500ms", "2.5s", "10m" (minutes; also "min") or "1h30m". A number without a unit counts
// `unit`; if that is 0, the unit must be there. Returns nothing if `text` is no duration, or one
// above 290 years.
std::optional<std::chrono::nanoseconds> DurationOf(std::string_view text,
                                                   std::chrono::nanoseconds unit);

}  // namespace perftape
