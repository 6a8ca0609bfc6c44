// SPDX-License-Identifier: Apache-2.0
#include "formats/script/escape.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "formats/base/text.h"
#include "formats/base/unsafe_text.h"

namespace perftape::script {
namespace {

constexpr std::string_view kEmptyName = "%";

// Decodes the two digits after a '%'.
std::optional<char> ByteAt(std::string_view digits) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (digits.size() < 2) return {};
  const std::size_t high = kDigits.find(digits[0]);
  const std::size_t low = kDigits.find(digits[1]);
  if (high == std::string_view::npos || low == std::string_view::npos) return {};
  return static_cast<char>(high * 16 + low);
}

void AppendBytes(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) {
    AppendFormat(out, "%{:02X}", static_cast<unsigned char>(byte));
  }
}

}  // namespace

void AppendEscaped(std::string& out, std::string_view name, std::string_view others) {
  if (name.empty() || name == kEmptyName) {
    name.empty() ? void(out += kEmptyName) : AppendBytes(out, name);
    return;
  }
  auto unsafe = FindUnsafe(name);
  for (std::size_t at = 0; at < name.size();) {
    if (unsafe && unsafe->at == at) {
      AppendBytes(out, name.substr(at, unsafe->size));
      at += unsafe->size;
      unsafe = FindUnsafe(name, at);
      continue;
    }
    // `others` is short: memchr(3), which string_view::find calls, would take longer.
    const bool is_escaped = std::ranges::find(others, name[at]) != others.end() ||
                            (name[at] == '%' && ByteAt(name.substr(at + 1)));
    is_escaped ? AppendBytes(out, name.substr(at, 1)) : out.push_back(name[at]);
    ++at;
  }
}

std::string Unescaped(std::string_view text) {
  if (text == kEmptyName) return {};
  std::string name;
  while (true) {
    const std::size_t mark = std::min(text.find('%'), text.size());
    name += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) return name;
    const std::optional<char> byte = ByteAt(text.substr(1));
    name.push_back(byte.value_or('%'));
    text.remove_prefix(byte ? 3 : 1);
  }
}

}  // namespace perftape::script
