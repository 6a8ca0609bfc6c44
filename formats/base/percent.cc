// SPDX-License-Identifier: Apache-2.0
#include "formats/base/percent.h"

#include <charconv>
#include <system_error>

namespace perftape {
inline namespace base {

std::optional<double> DecimalOf(std::string_view text) {
  // std::from_chars also decodes "inf" and "-1".
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9'))) {
    return std::nullopt;
  }
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || parsed != end) return std::nullopt;
  return number;
}

std::optional<double> PercentOf(std::string_view text, PercentSign sign) {
  const bool has_sign = text.ends_with('%');
  if (!has_sign && sign == PercentSign::kRequired) return std::nullopt;
  if (has_sign) text.remove_suffix(1);
  const std::optional<double> percent = DecimalOf(text);
  return percent && *percent <= 100 ? percent : std::nullopt;
}

}  // namespace base
}  // namespace perftape
