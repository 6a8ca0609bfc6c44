// SPDX-License-Identifier: Apache-2.0
// Decimal numbers and percentages as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perftape {
inline namespace base {

// Decodes "20" or "0.5". Returns nothing for other texts, among them "-1", "1e3" and "inf".
std::optional<double> DecimalOf(std::string_view text);

enum class PercentSign : std::uint8_t { kRequired, kOptional };

// Decodes "20%" or "0.5%". Returns nothing unless it is a number from 0 to 100.
std::optional<double> PercentOf(std::string_view text, PercentSign sign);

}  // namespace base
}  // namespace perftape
