// SPDX-License-Identifier: Apache-2.0
#include "formats/base/text.h"

#include <fmt/format.h>

#include <iterator>

namespace perftape {
inline namespace base {

void AppendArguments(std::string& out, std::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(out), format, args);
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

}  // namespace base
}  // namespace perftape
