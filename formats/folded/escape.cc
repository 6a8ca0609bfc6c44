// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/escape.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

namespace perftape::folded {
namespace {

constexpr std::string_view kEscapedPercent = "25";

// What is escaped wherever it is ...
bool EndsFrameOrIsControl(char c) {
  return c == ';' || (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
}
// ... and what is before a number at the end.
bool IsSpace(char c) {
  return c == ' ' || c == '\t';
}

// The character that two upper-case hex digits at the beginning of `text` name.
std::optional<char> CodeAt(std::string_view text) {
  unsigned code = 0;
  const std::string_view digits = text.substr(0, 2);
  if (digits.size() < 2 || digits.find_first_not_of("0123456789ABCDEF") != digits.npos) return {};
  std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return static_cast<char>(code);
}

// "%3B", "%253B", "%25253B", …: a code behind a percent sign that was escaped so many times.
struct Escape {
  char character;
  bool is_of_percent;  // it stands for the same with one "25" less, not for the character
  std::size_t size;    // with the '%'
};

// The one of those characters that `text`, which begins with '%', begins with.
std::optional<Escape> EscapeAt(std::string_view text, bool (*is_escaped)(char)) {
  std::size_t at = 1;
  while (text.substr(at).starts_with(kEscapedPercent)) at += kEscapedPercent.size();
  const std::optional<char> character = CodeAt(text.substr(at));
  if (!character || !is_escaped(*character)) return {};
  return Escape{.character = *character, .is_of_percent = at > 1, .size = at + 2};
}

void AppendEscape(std::string& out, char character) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto code = static_cast<unsigned char>(character);
  out.push_back('%');
  out.push_back(kDigits[code >> 4]);
  out.push_back(kDigits[code & 15]);
}

bool IsDigit(char c) {
  return '0' <= c && c <= '9';
}

// Where a number begins that `text` ends in, as flamegraph.pl takes it: "7", "7.5", "7."; its size
// where there is none.
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

// Where the escape of a space before a number may be: its own digits look like the number's first.
std::size_t PercentBeforeNumber(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && (IsDigit(text[at - 1]) || text[at - 1] == '.')) --at;
  return at > 0 && text[at - 1] == '%' ? at - 1 : std::string_view::npos;
}

bool IsNumber(std::string_view text) {
  return !text.empty() && IsDigit(text.front()) && NumberAtTheEnd(text) == 0;
}

// "%207", "%25207" and their like at the end of a last frame.
struct TailEscape {
  std::size_t at;
  Escape escape;
};
std::optional<TailEscape> EscapeAtTheEnd(std::string_view text) {
  const std::size_t at = PercentBeforeNumber(text);
  if (at == std::string_view::npos) return {};
  const std::optional<Escape> escape = EscapeAt(text.substr(at), IsSpace);
  if (!escape || !IsNumber(text.substr(at + escape->size))) return {};
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
  AppendEscape(escape, out[space]);
  out.replace(space, 1, escape);
}

}  // namespace

void AppendFrame(std::string& out, std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (EndsFrameOrIsControl(c)) {
      AppendEscape(out, c);
      continue;
    }
    out.push_back(c);
    if (c == '%' && EscapeAt(name.substr(i), EndsFrameOrIsControl)) out += kEscapedPercent;
  }
}

void AppendLeaf(std::string& out, std::string_view name, CountLike count_like) {
  const std::size_t start = out.size();
  AppendFrame(out, name);
  EscapeTail(out, start, count_like);
}

bool EndsLikeACount(std::string_view name) {
  const std::size_t number = NumberAtTheEnd(name);
  return 0 < number && number < name.size() && IsSpace(name[number - 1]);
}

std::string FrameName(std::string_view text) {
  std::string name;
  while (true) {
    const std::size_t plain = std::min(text.find('%'), text.size());
    name += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return name;
    const std::optional<Escape> escape = EscapeAt(text, EndsFrameOrIsControl);
    if (escape && !escape->is_of_percent) {
      name.push_back(escape->character);
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
    with_space.push_back(tail->escape.character);
    with_space += text.substr(tail->at + tail->escape.size);
  }
  return FrameName(with_space);
}

}  // namespace perftape::folded
