// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/count.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>

namespace perftape::folded {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();

// The number with this sign and magnitude, limited to the range of the type.
std::int64_t Signed(bool is_negative, std::uint64_t magnitude) {
  if (!is_negative) return static_cast<std::int64_t>(std::min(magnitude, kMax));
  return static_cast<std::int64_t>(~std::min(magnitude, kMax + 1) + 1);
}

// A number without a sign: "4.09e+09" has the digits "4" and "09".
struct Scientific {
  std::string_view whole, fraction;
  bool has_point = false;
  int exponent = 0;  // the point is this many digits further right
};

std::optional<Scientific> ParseScientific(std::string_view text) {
  constexpr std::size_t kMostDigits = 4;
  Scientific number;
  const std::size_t mark = text.find_first_of("eE");
  if (mark != std::string_view::npos) {
    std::string_view exponent = text.substr(mark + 1);
    const bool has_sign = exponent.starts_with('+') || exponent.starts_with('-');
    // Java writes "4.09E9". Without a point, 4E9 may be an address.
    if (!has_sign && !text.substr(0, mark).contains('.')) return {};
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const bool is_negative = exponent.starts_with('-');
    if (exponent.empty() || exponent.size() > kMostDigits + (is_negative ? 1 : 0)) return {};
    const char* const end = exponent.data() + exponent.size();
    const auto [after, error] = std::from_chars(exponent.data(), end, number.exponent);
    if (error != std::errc{} || after != end) return {};
    text = text.substr(0, mark);
  }
  if (!IsUnsignedNumber(text)) return {};
  const std::size_t point = std::min(text.find('.'), text.size());
  number.has_point = point < text.size();
  number.whole = text.substr(0, point);
  if (number.has_point) number.fraction = text.substr(point + 1);
  return number;
}

// Adds a digit at the end. Returns false if the number is too large.
bool AppendDigit(std::uint64_t& number, char digit) {
  return !__builtin_mul_overflow(number, std::uint64_t{10}, &number) &&
         !__builtin_add_overflow(number, static_cast<unsigned>(digit - '0'), &number);
}

// Sets the part before the point. Returns false if it is too large.
bool SetWhole(const Scientific& number, Count& count) {
  const auto whole_digits = static_cast<std::ptrdiff_t>(number.whole.size()) + number.exponent;
  for (std::ptrdiff_t i = 0; i < whole_digits; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::size_t in_fraction = at - number.whole.size();
    const char digit = at < number.whole.size()               ? number.whole[at]
                       : in_fraction < number.fraction.size() ? number.fraction[in_fraction]
                                                              : '0';
    if (!AppendDigit(count.whole, digit)) return false;
  }
  return true;
}

// Returns the digits after the point, without final zeros.
std::string_view FractionOf(const Scientific& number) {
  if (!number.has_point) return {};
  const auto moved = static_cast<std::size_t>(number.exponent);
  std::string_view digits = number.fraction.substr(std::min(moved, number.fraction.size()));
  while (digits.size() > 1 && digits.ends_with('0')) digits.remove_suffix(1);
  return digits;
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
  const std::optional<Scientific> number = ParseScientific(text);
  if (!number) return Fail(ErrorCode::kCorrupt, "no count at the end of the line");
  if (number->exponent < 0) {
    return Fail(ErrorCode::kCorrupt,
                "the count has a negative exponent, which is not supported: print it with all its "
                "digits, as %f does");
  }
  if (!SetWhole(*number, count) || count.whole > kMax + (count.is_negative ? 1 : 0)) {
    return Fail(ErrorCode::kCorrupt, "the count is too large for 64 bits");
  }
  count.fraction = FractionOf(*number);
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
