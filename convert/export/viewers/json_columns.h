// SPDX-License-Identifier: Apache-2.0
// A table of a JSON file that is written column by column: {"length":2,"a":[1,2],"b":[3,null]}.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string_view>

#include "convert/export/viewers/text_output.h"

namespace perftape::viewers {

// Writes `,"name":[...]`. `append` is called with the output's text for each entry, and appends its
// value.
template <class Entries, class Append>
Status WriteColumn(TextOutput& out, std::string_view name, const Entries& entries, Append append) {
  fmt::format_to(std::back_inserter(out.text), ",\n\"{}\":[", name);
  bool is_first = true;
  for (const auto& entry : entries) {
    if (!is_first) out.text += ',';
    is_first = false;
    append(out.text, entry);
    TRY(out.FlushIfLarge());
  }
  out.text += ']';
  return {};
}

// Writes a column of equal values.
template <class Entries>
Status WriteConstant(TextOutput& out, std::string_view name, const Entries& entries,
                     std::string_view value) {
  return WriteColumn(out, name, entries,
                     [value](std::string& text, const auto&) { text += value; });
}

// Appends a number, or null.
inline void AppendNumberOrNull(std::string& out, std::uint64_t number, bool is_null) {
  if (is_null) {
    out += "null";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number);
  }
}

}  // namespace perftape::viewers
