// SPDX-License-Identifier: Apache-2.0
#include "formats/base/utf8_text.h"

#include <bit>
#include <optional>

#include "formats/base/utf8.h"

namespace perftape {
inline namespace base {
namespace {

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
constexpr std::string_view kUtf16LeMark = "\xff\xfe";
constexpr std::string_view kUtf16BeMark = "\xfe\xff";
constexpr char32_t kReplacement = 0xfffd;

std::optional<std::endian> Utf16Order(std::string_view text) {
  if (text.starts_with(kUtf16LeMark)) return std::endian::little;
  if (text.starts_with(kUtf16BeMark)) return std::endian::big;
  return {};
}

bool IsSurrogate(char32_t unit) {
  return 0xd800 <= unit && unit < 0xe000;
}
bool IsPair(char32_t first, char32_t second) {
  return 0xd800 <= first && first < 0xdc00 && 0xdc00 <= second && second < 0xe000;
}

std::string FromUtf16(Bytes bytes, std::endian order, std::uint64_t& broken) {
  const FixedArray<char16_t> units(bytes, order);
  std::string out;
  out.reserve(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    char32_t character = units[i];
    if (IsSurrogate(character)) {
      if (i + 1 < units.size() && IsPair(character, units[i + 1])) {
        character = 0x1'0000 + ((character & 0x3ff) << 10) + (units[++i] & 0x3ffU);
      } else {
        character = kReplacement;
        ++broken;
      }
    }
    AppendUtf8(out, character);
  }
  if (bytes.size() % 2 != 0) {
    AppendUtf8(out, kReplacement);
    ++broken;
  }
  return out;
}

}  // namespace

Utf8Text::Utf8Text(Bytes file) : view_(AsText(file)) {
  if (const auto order = Utf16Order(view_)) {
    decoded_ = FromUtf16(file.subspan(kUtf16LeMark.size()), *order, broken_);
    view_ = decoded_;
  } else {
    view_.remove_prefix(SizeOfUtf8Mark(view_));
  }
}

std::string ToUtf8(std::string text) {
  if (!BeginsWithMark(AsBytes(text))) return text;
  return std::string(Utf8Text(AsBytes(text)).view());
}

bool BeginsWithMark(Bytes file) {
  return SizeOfUtf8Mark(AsText(file)) != 0 || Utf16Order(AsText(file));
}

std::size_t SizeOfUtf8Mark(std::string_view text) {
  return text.starts_with(kUtf8Mark) ? kUtf8Mark.size() : 0;
}

std::string BrokenTextLine(std::uint64_t broken) {
  return std::to_string(broken) + " pieces of UTF-16 are not characters and became U+FFFD";
}

std::string_view MarkBefore(std::string_view text) {
  return text.starts_with(kUtf8Mark) || Utf16Order(text) ? kUtf8Mark : "";
}

}  // namespace base
}  // namespace perftape
