// SPDX-License-Identifier: Apache-2.0
// Numbers in the names and options of events.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perftape::record {

// Reads all of `text` as a number in `base`; nothing if it is none, or does not fit.
std::optional<std::uint64_t> ParseNumberInBase(std::string_view text, int base);

// Decimal, or hexadecimal after 0x.
std::optional<std::uint64_t> ParseEventNumber(std::string_view text);

}  // namespace perftape::record
