// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/count.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>

namespace perftape::folded {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();

// The number with this sign and magnitude, limited to the range of the type.
std::int64_t Signed(bool is_negative, std::uint64_t magnitude) {
  if (!is_negative) return static_cast<std::int64_t>(std::min(magnitude, kMax));
  return static_cast<std::int64_t>(~std::min(magnitude, kMax + 1) + 1);
}

}  // namespace

bool IsUnsignedNumber(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto all_digits = [](std::string_view digits) {
    return std::ranges::all_of(digits, [](char c) { return '0' <= c && c <= '9'; });
  };
  return point > 0 && all_digits(text.substr(0, point)) &&
         (point == text.size() || all_digits(text.substr(point + 1)));
}

Result<Count> ParseCount(std::string_view text) {
  Count count;
  count.is_negative = text.starts_with('-');
  if (count.is_negative) text.remove_prefix(1);
  if (!IsUnsignedNumber(text)) return Fail(ErrorCode::kCorrupt, "no count at the end of the line");
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, count.whole);
  if (error != std::errc{} || count.whole > kMax + (count.is_negative ? 1 : 0)) {
    return Fail(ErrorCode::kCorrupt, "the count is too large for 64 bits");
  }
  if (after == end) return count;
  count.fraction = {after + 1, end};
  while (count.fraction.size() > 1 && count.fraction.ends_with('0'))
    count.fraction.remove_suffix(1);
  return count;
}

std::int64_t ToFixed(const Count& count, unsigned decimals) {
  std::uint64_t value = count.whole;
  for (unsigned i = 0; i < decimals; ++i) {
    const unsigned digit =
        i < count.fraction.size() ? static_cast<unsigned>(count.fraction[i] - '0') : 0;
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return Signed(count.is_negative, std::numeric_limits<std::uint64_t>::max());
    }
  }
  const bool rounds_up = decimals < count.fraction.size() && count.fraction[decimals] >= '5';
  if (rounds_up && value <= kMax) ++value;
  return Signed(count.is_negative, value);
}

std::int64_t RoundFixed(std::int64_t value, unsigned decimals) {
  if (decimals == 0) return value;
  for (; decimals > 1 && value != 0; --decimals) value /= 10;  // cuts less than 0.1
  return value / 10 + (value % 10 >= 5 ? 1 : 0) - (value % 10 <= -5 ? 1 : 0);
}

void AppendFixed(std::string& out, std::int64_t value, unsigned decimals) {
  char text[24];
  char* const end = std::to_chars(std::begin(text), std::end(text), value).ptr;
  if (decimals == 0) {
    out.append(text, end);
    return;
  }
  std::string_view digits(text, end);
  if (digits.starts_with('-')) {
    out.push_back('-');
    digits.remove_prefix(1);
  }
  std::string padded(decimals + 1 > digits.size() ? decimals + 1 - digits.size() : 0, '0');
  padded += digits;
  const std::string_view whole = std::string_view(padded).substr(0, padded.size() - decimals);
  std::string_view fraction = std::string_view(padded).substr(whole.size());
  fraction = fraction.substr(0, std::max<std::size_t>(fraction.find_last_not_of('0') + 1, 1));
  out += whole;
  out.push_back('.');
  out += fraction;
}

}  // namespace perftape::folded
