// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace perftape::pprof {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The characters with this first byte: how many bytes they have, and what the second may be. The
// ranges leave out what is too long, a surrogate, or above U+10FFFF (RFC 3629, section 4).
struct Form {
  unsigned char first, last;
  std::size_t size;
  unsigned char second_first, second_last;
};
constexpr std::array kForms = {
    Form{0x00, 0x7f, 1, 0x00, 0x00}, Form{0xc2, 0xdf, 2, 0x80, 0xbf},
    Form{0xe0, 0xe0, 3, 0xa0, 0xbf}, Form{0xe1, 0xec, 3, 0x80, 0xbf},
    Form{0xed, 0xed, 3, 0x80, 0x9f}, Form{0xee, 0xef, 3, 0x80, 0xbf},
    Form{0xf0, 0xf0, 4, 0x90, 0xbf}, Form{0xf1, 0xf3, 4, 0x80, 0xbf},
    Form{0xf4, 0xf4, 4, 0x80, 0x8f},
};

bool IsWithin(char c, unsigned char first, unsigned char last) {
  const auto byte = static_cast<unsigned char>(c);
  return first <= byte && byte <= last;
}

// Of the character that `text` begins with; 0 where it begins with none.
std::size_t CharacterSize(std::string_view text) {
  const auto* form = std::ranges::find_if(
      kForms, [&](const Form& f) { return IsWithin(text[0], f.first, f.last); });
  if (form == kForms.end() || text.size() < form->size) return 0;
  if (form->size == 1) return 1;
  if (!IsWithin(text[1], form->second_first, form->second_last)) return 0;
  const std::string_view rest = text.substr(2, form->size - 2);
  return std::ranges::all_of(rest, [](char c) { return IsWithin(c, 0x80, 0xbf); }) ? form->size : 0;
}

}  // namespace

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = CharacterSize(text);
    valid += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return valid;
}

}  // namespace perftape::pprof
