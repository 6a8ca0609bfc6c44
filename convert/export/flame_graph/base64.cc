// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/base64.h"

#include <cstdint>
#include <string_view>

namespace perftape::flame_graph {
namespace {

constexpr std::string_view kLetters =
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
    text += kLetters[group >> 18];
    text += kLetters[group >> 12 & 63];
    text += at + 1 < bytes.size() ? kLetters[group >> 6 & 63] : '=';
    text += at + 2 < bytes.size() ? kLetters[group & 63] : '=';
  }
  return text;
}

}  // namespace perftape::flame_graph
