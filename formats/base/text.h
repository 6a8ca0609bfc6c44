// SPDX-License-Identifier: Apache-2.0
// Trims texts, and builds them with fmt. fmt::format_to and fmt::join are templates over the whole
// formatter, so every file that calls them would compile it again; this header takes a tenth of
// that time.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace perftape {
inline namespace base {

// Appends the text of `format` with `args` to `out`.
void AppendArguments(std::string& out, std::string_view format, fmt::format_args args);

// Appends to `out` the text that fmt::format would return. Does not compile if the arguments do not
// match the format.
template <class... Args>
void AppendFormat(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  const fmt::string_view text = format;
  AppendArguments(out, {text.data(), text.size()}, fmt::make_format_args(args...));
}

// Returns the elements of `range`, as "{}" formats them, with `separator` between each two.
template <class Range>
std::string Joined(const Range& range, std::string_view separator) {
  std::string joined;
  bool is_first = true;
  for (const auto& element : range) {
    if (!is_first) joined += separator;
    is_first = false;
    AppendFormat(joined, "{}", element);
  }
  return joined;
}

// Returns `text` without the blanks, tabs and carriage returns at its ends.
std::string_view Trimmed(std::string_view text);

}  // namespace base
}  // namespace perftape
