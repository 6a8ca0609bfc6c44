// SPDX-License-Identifier: Apache-2.0
#include "formats/base/byte_size.h"

#include <charconv>
#include <system_error>

namespace perftape {
inline namespace base {
namespace {

// Each is 1024 times the one before.
constexpr std::string_view kLetters = "BKMG";

std::uint64_t FactorOf(std::size_t letter) {
  return std::uint64_t{1} << (10 * letter);
}

}  // namespace

std::optional<std::uint64_t> SizeOf(std::string_view text, std::uint64_t unit) {
  if (const std::size_t letter = text.empty() ? std::string_view::npos : kLetters.find(text.back());
      letter != std::string_view::npos) {
    unit = FactorOf(letter);
    text.remove_suffix(1);
  }
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  if (unit == 0 || error == std::errc::invalid_argument || parsed != end) return std::nullopt;
  const bool fits = error == std::errc{} && number <= UINT64_MAX / unit;
  return fits ? number * unit : UINT64_MAX;
}

std::string SizeText(std::uint64_t bytes) {
  std::size_t letter = bytes == 0 ? 0 : kLetters.size() - 1;
  while (bytes % FactorOf(letter) != 0) --letter;
  return std::to_string(bytes / FactorOf(letter)) + kLetters[letter];
}

}  // namespace base
}  // namespace perftape
