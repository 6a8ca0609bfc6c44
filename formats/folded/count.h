// SPDX-License-Identifier: Apache-2.0
// The counts of folded lines: usually whole numbers, sometimes with a fraction ("31.23"), negative
// in differences. They are fixed-point numbers, so that sums are exact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/result.h"

namespace perftape::folded {

// A count as it stands in its line.
struct Count {
  bool is_negative = false;
  std::uint64_t whole = 0;  // of the magnitude
  // Its digits, but for zeros at the end: at least one, where there are any. A view of the text.
  std::string_view fraction = {};
};

// Whether `text` is "digits" or "digits.digits"; the second digits may be missing.
bool IsUnsignedNumber(std::string_view text);

// "42", "-42", "42.", "42.50". kCorrupt where the text is no such number, or is one that 64 bits
// with a sign do not hold.
Result<Count> ParseCount(std::string_view text);

// No number of more decimals fits 64 bits.
inline constexpr unsigned kMostDecimals = 18;

// count * 10^decimals, rounded to the nearest; the number nearest to it that there is where 64 bits
// do not hold it.
std::int64_t ToFixed(const Count& count, unsigned decimals);

// Appends value / 10^decimals, with as many decimals as it needs; at least one where there are any
// in the file, as other tools write floating-point counts ("19.0").
void AppendFixed(std::string& out, std::int64_t value, unsigned decimals);

}  // namespace perftape::folded
