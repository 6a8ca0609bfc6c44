// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_number.h"

#include <charconv>

namespace perftape::record {

std::optional<std::uint64_t> ParseNumberInBase(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

std::optional<std::uint64_t> ParseEventNumber(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return ParseNumberInBase(text, 10);
  return ParseNumberInBase(text.substr(2), 16);
}

}  // namespace perftape::record
