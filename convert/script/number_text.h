// SPDX-License-Identifier: Apache-2.0
// Numbers as printf(3) writes them, without its cost: each sample has several, each frame has one.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace perftape::listing {

// Appends `text` with blanks before it up to `width`: "%*s".
inline void AppendRight(std::string& out, std::string_view text, std::size_t width) {
  if (text.size() < width) out.append(width - text.size(), ' ');
  out += text;
}

// Appends `text` with blanks after it up to `width`: "%-*s".
inline void AppendLeft(std::string& out, std::string_view text, std::size_t width) {
  out += text;
  if (text.size() < width) out.append(width - text.size(), ' ');
}

// The digits of a number, valid as long as the object.
class Digits {
 public:
  template <class Number>
  explicit Digits(Number number, int base = 10)
      : size_(static_cast<std::size_t>(
            std::to_chars(text_.data(), text_.data() + text_.size(), number, base).ptr -
            text_.data())) {}
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 24> text_;
  std::size_t size_;
};

// "%*d" and "%*u".
template <class Number>
void AppendNumber(std::string& out, Number number, std::size_t width = 0) {
  AppendRight(out, Digits(number).text(), width);
}

// "%*x".
inline void AppendHex(std::string& out, std::uint64_t number, std::size_t width = 0) {
  AppendRight(out, Digits(number, 16).text(), width);
}

// "%#x": no prefix before 0.
inline void AppendPrefixedHex(std::string& out, std::uint64_t number) {
  if (number != 0) out += "0x";
  AppendHex(out, number);
}

// "%0*u".
inline void AppendZeroFilled(std::string& out, std::uint64_t number, std::size_t width) {
  const Digits digits(number);
  if (digits.text().size() < width) out.append(width - digits.text().size(), '0');
  out += digits.text();
}

enum class TimeDigits : std::uint8_t { kMicroseconds, kNanoseconds };

// "%*u.%06u" or "%*u.%09u" for a time in nanoseconds. `width` is that of the whole seconds.
inline void AppendSeconds(std::string& out, std::uint64_t time_ns, TimeDigits digits,
                          std::size_t width = 0) {
  constexpr std::uint64_t kNsInSecond = 1'000'000'000, kNsInMicrosecond = 1'000;
  AppendNumber(out, time_ns / kNsInSecond, width);
  out += '.';
  if (digits == TimeDigits::kNanoseconds) {
    AppendZeroFilled(out, time_ns % kNsInSecond, 9);
  } else {
    AppendZeroFilled(out, time_ns % kNsInSecond / kNsInMicrosecond, 6);
  }
}

}  // namespace perftape::listing
