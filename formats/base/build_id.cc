// SPDX-License-Identifier: Apache-2.0
#include "formats/base/build_id.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace perftape {
inline namespace base {

BuildId BuildId::From(Bytes bytes) {
  BuildId id;
  const std::size_t size = std::min(bytes.size(), id.bytes.size());
  if (size != 0) std::memcpy(id.bytes.data(), bytes.data(), size);
  id.size = static_cast<std::uint8_t>(size);
  return id;
}

std::optional<BuildId> BuildId::FromHex(std::string_view text) {
  BuildId id;
  if (text.empty() || text.size() % 2 != 0 || text.size() / 2 > id.bytes.size()) return {};
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const char* end = text.data() + i + 2;
    const auto [stopped, error] = std::from_chars(text.data() + i, end, id.bytes[i / 2], 16);
    if (error != std::errc{} || stopped != end) return {};
  }
  id.size = static_cast<std::uint8_t>(text.size() / 2);
  return id;
}

std::string BuildId::hex() const {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace base
}  // namespace perftape
