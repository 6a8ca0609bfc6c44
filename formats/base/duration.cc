// SPDX-License-Identifier: Apache-2.0
#include "formats/base/duration.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace perftape {
inline namespace base {
namespace {

constexpr std::pair<std::string_view, double> kUnits[] = {
    {"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
    {"m", 6e10}, {"min", 6e10}, {"h", 3.6e12}, {"d", 8.64e13}};
constexpr double kLongestNs = 9.15e18;  // below 2^63

bool IsLetter(char letter) {
  return letter >= 'a' && letter <= 'z';
}

}  // namespace

std::optional<std::chrono::nanoseconds> DurationOf(std::string_view text,
                                                   std::chrono::nanoseconds unit) {
  if (text.empty()) return std::nullopt;
  double sum_ns = 0;
  for (bool is_first = true; !text.empty(); is_first = false) {
    // std::from_chars also decodes "inf" and "-1".
    if (text.front() != '.' && (text.front() < '0' || text.front() > '9')) return std::nullopt;
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto* const word_end = std::ranges::find_if_not(text, IsLetter);
    const std::string_view word(text.data(), static_cast<std::size_t>(word_end - text.data()));
    text.remove_prefix(word.size());
    const auto* const found =
        std::ranges::find(kUnits, word, &std::pair<std::string_view, double>::first);
    const bool is_bare =
        is_first && word.empty() && text.empty() && (unit.count() > 0 || number == 0);
    if (found == std::end(kUnits) && !is_bare) return std::nullopt;
    sum_ns += number * (is_bare ? static_cast<double>(unit.count()) : found->second);
    if (sum_ns > kLongestNs) return std::nullopt;
  }
  // A fraction of a nanosecond is no zero.
  return std::chrono::nanoseconds(sum_ns > 0 ? std::max(1LL, std::llround(sum_ns)) : 0);
}

std::string SecondsText(std::uint64_t ns) {
  return fmt::format("{}.{:09}", ns / kNsPerSecond, ns % kNsPerSecond);
}

}  // namespace base
}  // namespace perftape
