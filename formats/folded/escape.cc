// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/escape.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "formats/base/text.h"
#include "formats/base/unsafe_text.h"
#include "formats/base/utf8.h"
#include "formats/folded/count.h"

namespace perftape::folded {
namespace {

constexpr std::string_view kEscapedPercent = "25";

// The code points, and the bytes that are not UTF-8, that are escaped in any frame ...
bool IsEscapedAnywhere(char32_t value) {
  return value == ';' || (IsUnsafe(value) && value != '\t');
}
// ... and those that are escaped before a number at the end.
bool IsSpace(char32_t value) {
  return value == ' ' || value == '\t';
}
using IsEscaped = bool(char32_t);

bool IsHash(char32_t value) {
  return value == '#';
}

// Whether '#' before this text makes the line a comment.
bool IsLikeAComment(std::string_view behind_hash) {
  return behind_hash.empty() || behind_hash.front() == ' ';
}

// An escaped character.
struct Character {
  char32_t value = 0;
  bool is_utf8 = true;  // false: a byte that is not UTF-8
};

struct Code {
  Character character;
  std::size_t size;
};

// Parses upper-case hexadecimal digits at the start of `text`.
std::optional<char32_t> NumberAt(std::string_view text, std::size_t digits) {
  unsigned number = 0;
  text = text.substr(0, digits);
  if (text.size() < digits || text.find_first_not_of("0123456789ABCDEF") != text.npos) return {};
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

// Decodes the code after a '%' at the start of `text`: "3B", "u202E", "x9B".
std::optional<Code> CodeAt(std::string_view text, IsEscaped* is_escaped) {
  constexpr std::size_t kByte = 2, kCodePoint = 4;
  const bool is_point = text.starts_with('u');
  const bool is_stray = text.starts_with('x');
  const std::size_t mark = is_point || is_stray ? 1 : 0;
  const std::size_t digits = is_point ? kCodePoint : kByte;
  const auto value = NumberAt(text.substr(std::min(mark, text.size())), digits);
  const bool is_ascii = value && *value < 0x80;
  if (!value || is_ascii != (mark == 0) || !is_escaped(*value)) return {};
  return Code{.character = {.value = *value, .is_utf8 = !is_stray}, .size = mark + digits};
}

// "%3B", "%253B", "%25253B", …: a code whose '%' was escaped any number of times.
struct Escape {
  Character character;
  bool is_of_percent;  // the frame's name has one "25" less, not the character
  std::size_t size;    // including the '%'
};

// Decodes an escape of these characters at the start of `text`, which begins with '%'.
std::optional<Escape> EscapeAt(std::string_view text, IsEscaped* is_escaped) {
  std::size_t at = 1;
  while (text.substr(at).starts_with(kEscapedPercent)) at += kEscapedPercent.size();
  const std::optional<Code> code = CodeAt(text.substr(at), is_escaped);
  if (!code) return {};
  return Escape{.character = code->character, .is_of_percent = at > 1, .size = at + code->size};
}

void AppendEscape(std::string& out, Character character) {
  const auto value = static_cast<unsigned>(character.value);
  if (value < 0x80) {
    AppendFormat(out, "%{:02X}", value);
  } else if (character.is_utf8) {
    AppendFormat(out, "%u{:04X}", value);
  } else {
    AppendFormat(out, "%x{:02X}", value);
  }
}

void AppendCharacter(std::string& out, Character character) {
  if (character.is_utf8) return AppendUtf8(out, character.value);
  out.push_back(static_cast<char>(character.value));
}

bool IsDigit(char c) {
  return '0' <= c && c <= '9';
}

// The offset of a number at the end of `text`, by flamegraph.pl's rule: "7", "7.5", "7.". The size
// of `text` if there is none.
std::size_t NumberAtTheEnd(std::string_view text) {
  const auto before_digits = [&](std::size_t end) {
    while (end > 0 && IsDigit(text[end - 1])) --end;
    return end;
  };
  const std::size_t begin = before_digits(text.size());
  if (begin > 0 && text[begin - 1] == '.') {
    const std::size_t whole = before_digits(begin - 1);
    if (whole < begin - 1) return whole;
  }
  return begin;
}

// The offset of a possible escaped space before a number. The digits of the escape look like the
// number's.
std::size_t PercentBeforeNumber(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && (IsDigit(text[at - 1]) || text[at - 1] == '.')) --at;
  return at > 0 && text[at - 1] == '%' ? at - 1 : std::string_view::npos;
}

// An escape such as "%207" or "%25207" at the end of a last frame.
struct TailEscape {
  std::size_t at;
  Escape escape;
};
std::optional<TailEscape> EscapeAtTheEnd(std::string_view text) {
  const std::size_t at = PercentBeforeNumber(text);
  if (at == std::string_view::npos) return {};
  const std::optional<Escape> escape = EscapeAt(text.substr(at), IsSpace);
  if (!escape || !IsUnsignedNumber(text.substr(at + escape->size))) return {};
  return TailEscape{at, *escape};
}

void EscapeTail(std::string& out, std::size_t start, CountLike count_like) {
  const std::string_view text = std::string_view(out).substr(start);
  if (const auto tail = EscapeAtTheEnd(text)) {
    out.insert(start + tail->at + 1, kEscapedPercent);
    return;
  }
  if (count_like == CountLike::kKeep || !EndsLikeACount(text)) return;
  const std::size_t space = start + NumberAtTheEnd(text) - 1;
  std::string escape;
  AppendEscape(escape, {.value = static_cast<unsigned char>(out[space])});
  out.replace(space, 1, escape);
}

// Decodes an escape such as "%23 comment" or "%2523 comment" at the start of a frame.
std::optional<Escape> HashEscapeOf(std::string_view text) {
  if (!text.starts_with('%')) return {};
  const std::optional<Escape> escape = EscapeAt(text, IsHash);
  return escape && IsLikeAComment(text.substr(escape->size)) ? escape : std::nullopt;
}

// The fast path: most names consist of these characters.
bool IsPlain(char c) {
  return (c >= ' ' && c <= '~' && c != ';' && c != '%') || c == '\t';
}

// Appends the first character of `name`, which is not plain. Returns its size.
std::size_t AppendFirst(std::string& out, std::string_view name) {
  if (name.front() == '%') {
    out.push_back('%');
    if (EscapeAt(name, IsEscapedAnywhere)) out += kEscapedPercent;
    return 1;
  }
  const CodePoint point = FirstCodePoint(name);
  const Character character = {
      .value = point.size == 0 ? static_cast<unsigned char>(name.front()) : point.value,
      .is_utf8 = point.size != 0};
  const std::size_t size = std::max<std::size_t>(point.size, 1);
  if (IsEscapedAnywhere(character.value)) {
    AppendEscape(out, character);
  } else {
    out += name.substr(0, size);
  }
  return size;
}

}  // namespace

void AppendFrame(std::string& out, std::string_view name) {
  if (name.starts_with('#') && IsLikeAComment(name.substr(1))) {
    AppendEscape(out, {.value = '#'});
    name.remove_prefix(1);
  } else if (HashEscapeOf(name)) {
    out.push_back('%');
    out += kEscapedPercent;
    name.remove_prefix(1);
  }
  while (true) {
    const auto* const special = std::ranges::find_if_not(name, IsPlain);
    const auto plain = static_cast<std::size_t>(special - name.begin());
    out += name.substr(0, plain);
    name.remove_prefix(plain);
    if (name.empty()) return;
    name.remove_prefix(AppendFirst(out, name));
  }
}

void AppendLeaf(std::string& out, std::string_view name, CountLike count_like) {
  const std::size_t start = out.size();
  AppendFrame(out, name);
  EscapeTail(out, start, count_like);
}

bool EndsLikeACount(std::string_view name) {
  const std::size_t number = NumberAtTheEnd(name);
  return 0 < number && number < name.size() &&
         IsSpace(static_cast<unsigned char>(name[number - 1]));
}

std::string FrameName(std::string_view text) {
  std::string name;
  if (const auto hash = HashEscapeOf(text)) {
    name.push_back(hash->is_of_percent ? '%' : '#');
    text.remove_prefix(hash->is_of_percent ? 1 + kEscapedPercent.size() : hash->size);
  }
  while (true) {
    const std::size_t plain = std::min(text.find('%'), text.size());
    name += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return name;
    const std::optional<Escape> escape = EscapeAt(text, IsEscapedAnywhere);
    if (escape && !escape->is_of_percent) {
      AppendCharacter(name, escape->character);
      text.remove_prefix(escape->size);
      continue;
    }
    name.push_back('%');
    text.remove_prefix(escape ? 1 + kEscapedPercent.size() : 1);
  }
}

std::string LeafName(std::string_view text) {
  const auto tail = EscapeAtTheEnd(text);
  if (!tail) return FrameName(text);
  std::string with_space(text.substr(0, tail->at));
  if (tail->escape.is_of_percent) {
    with_space.push_back('%');
    with_space += text.substr(tail->at + 1 + kEscapedPercent.size());
  } else {
    AppendCharacter(with_space, tail->escape.character);
    with_space += text.substr(tail->at + tail->escape.size);
  }
  return FrameName(with_space);
}

}  // namespace perftape::folded
