// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/display_text.h"

#include <algorithm>

#include "formats/base/unsafe_text.h"
#include "formats/base/utf8.h"

namespace perftape::flame_graph {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// XML 1.0 allows neither U+FFFE nor U+FFFF.
bool IsNoncharacter(char32_t value) {
  return (value & 0xfffe) == 0xfffe || (value >= 0xfdd0 && value <= 0xfdef);
}

}  // namespace

std::string DisplayText(std::string_view text) {
  if (std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; })) {
    return std::string(text);
  }
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = FirstCodePoint(text.substr(at));
    const bool is_shown = point.size != 0 && !IsUnsafe(point.value) && !IsNoncharacter(point.value);
    shown += is_shown ? text.substr(at, point.size) : kReplacement;
    at += std::max<std::size_t>(point.size, 1);
  }
  return shown;
}

void AppendMarkup(std::string& out, std::string_view text) {
  for (const char c : DisplayText(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace perftape::flame_graph
