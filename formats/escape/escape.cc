// SPDX-License-Identifier: Apache-2.0
#include "formats/escape/escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "formats/base/text.h"
#include "formats/base/unsafe_text.h"
#include "formats/base/utf8.h"

namespace perftape::escape {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

void AppendVisible(const UnsafeCharacter& unsafe, std::string_view bytes, std::string& out) {
  if (unsafe.value == '\n') {
    out += "\\n";
  } else if (unsafe.value == '\t') {
    out += "\\t";
  } else if (unsafe.value == '\r') {
    out += "\\r";
  } else if (unsafe.value > 0xff) {
    AppendFormat(out, "\\u{:04x}", static_cast<unsigned>(unsafe.value));
  } else {
    for (const char byte : bytes) {
      AppendFormat(out, "\\x{:02x}", static_cast<std::uint8_t>(byte));
    }
  }
}

// XML 1.0 allows neither U+FFFE nor U+FFFF.
bool IsNoncharacter(char32_t value) {
  return (value & 0xfffe) == 0xfffe || (value >= 0xfdd0 && value <= 0xfdef);
}

}  // namespace

std::string ForTerminal(std::string_view text) {
  std::string escaped;
  std::size_t done = 0;
  while (const auto unsafe = FindUnsafe(text, done)) {
    escaped += text.substr(done, unsafe->at - done);
    AppendVisible(*unsafe, text.substr(unsafe->at, unsafe->size), escaped);
    done = unsafe->at + unsafe->size;
  }
  escaped += text.substr(done);
  return escaped;
}

std::string CsvText(std::string_view name) {
  std::string text = ForTerminal(name);
  const bool is_formula = !text.empty() && std::string_view("=+-@").contains(text.front());
  return is_formula ? "'" + text : text;
}

std::string CsvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted + "\"";
}

std::string MarkdownText(std::string_view text) {
  std::string escaped;
  for (const char letter : ForTerminal(text)) {
    if (std::string_view("\\`*_[]<>|&#~$").contains(letter)) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

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

std::string MetricsLabel(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace perftape::escape
