// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/escape.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "formats/base/text.h"
#include "formats/base/unsafe_text.h"

namespace perftape::cli {
namespace {

void AppendEscape(const UnsafeCharacter& unsafe, std::string_view bytes, std::string& out) {
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

}  // namespace

std::string EscapeForTerminal(std::string_view text) {
  std::string escaped;
  std::size_t done = 0;
  while (const auto unsafe = FindUnsafe(text, done)) {
    escaped += text.substr(done, unsafe->at - done);
    AppendEscape(*unsafe, text.substr(unsafe->at, unsafe->size), escaped);
    done = unsafe->at + unsafe->size;
  }
  escaped += text.substr(done);
  return escaped;
}

std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout) {
  const int indent = layout == JsonLayout::kIndented ? 2 : -1;
  constexpr bool kAsciiOnly = false;
  return EscapedJson(
             json.dump(indent, ' ', kAsciiOnly, nlohmann::ordered_json::error_handler_t::replace)) +
         '\n';
}

}  // namespace perftape::cli
