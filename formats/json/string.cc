// SPDX-License-Identifier: Apache-2.0
#include "formats/json/string.h"

#include <algorithm>
#include <optional>

#include "formats/base/text.h"
#include "formats/base/unsafe_text.h"

namespace perftape::json {
namespace {

// Appends text that contains no unsafe character.
void AppendSafe(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
}

}  // namespace

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 0;
  while (const auto unsafe = FindUnsafe(text, at)) {
    AppendSafe(out, text.substr(at, unsafe->at - at));
    // All unsafe characters are below U+10000, so none needs two escapes.
    const char32_t value = unsafe->is_utf8 ? unsafe->value : U'\ufffd';
    AppendFormat(out, "\\u{:04x}", static_cast<unsigned>(value));
    at = unsafe->at + std::max<std::size_t>(unsafe->size, 1);
  }
  AppendSafe(out, text.substr(at));
  out += '"';
}

}  // namespace perftape::json
