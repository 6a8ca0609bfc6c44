// SPDX-License-Identifier: Apache-2.0
// The counts of folded lines. They are usually integers, sometimes have a fraction ("31.23"), and
// may be negative in differences. awk, Go and JavaScript print large ones with an exponent
// ("4.09e+09"). They are fixed-point numbers, so that sums are exact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/result.h"

namespace perftape::folded {

// A count as written in its line.
struct Count {
  bool is_negative = false;
  std::uint64_t whole = 0;  // of the magnitude
  // The digits after the point, without final zeros. At least one digit if there were any. A view
  // of the text.
  std::string_view fraction = {};
};

// Whether `text` is "digits" or "digits.digits". The second digits may be missing.
bool IsUnsignedNumber(std::string_view text);

// Parses "42", "-42", "42.", "42.50" or "4.09e+09". An exponent has a sign, as C's %g prints it:
// "1e3" may be a name. Returns kCorrupt for other texts, for a negative exponent and for numbers
// that do not fit into 64 bits with a sign.
Result<Count> ParseCount(std::string_view text);

// The maximum number of decimals in 64 bits.
inline constexpr unsigned kMostDecimals = 18;

// Returns count * 10^decimals, rounded to the nearest integer and limited to the range of the
// result type.
std::int64_t ToFixed(const Count& count, unsigned decimals);

// Returns value / 10^decimals, rounded to the nearest whole number, halves away from 0.
std::int64_t RoundFixed(std::int64_t value, unsigned decimals);

// Appends value / 10^decimals with as many decimals as it needs. Appends at least one decimal if
// `decimals` is not 0, as other tools write floating-point counts ("19.0").
void AppendFixed(std::string& out, std::int64_t value, unsigned decimals);

}  // namespace perftape::folded
