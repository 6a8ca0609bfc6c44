// SPDX-License-Identifier: Apache-2.0
#include "formats/base/base64.h"

#include <cstdint>

namespace perftape {
inline namespace base {
namespace {

constexpr std::string_view kBase64Letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string Base64(Bytes bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += kBase64Letters[group >> 18];
    text += kBase64Letters[group >> 12 & 63];
    text += at + 1 < bytes.size() ? kBase64Letters[group >> 6 & 63] : '=';
    text += at + 2 < bytes.size() ? kBase64Letters[group & 63] : '=';
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned known = 0;
  for (char letter : text) {
    if (letter == '-') letter = '+';
    if (letter == '_') letter = '/';
    const std::size_t value = kBase64Letters.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffff;
    known += 6;
    if (known < 8) continue;
    known -= 8;
    bytes += static_cast<char>(bits >> known);
  }
  return bytes;
}

}  // namespace base
}  // namespace perftape
