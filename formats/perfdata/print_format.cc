// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/print_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "formats/base/text.h"
#include "formats/perfdata/print_parser.h"

namespace perftape::perfdata {
namespace {

// Wider values are not the kernel's.
constexpr int kMostWidth = 1024;

// Removes a decimal number from the start of `rest`.
int TakeNumber(std::string_view& rest) {
  int number = 0;
  while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0) {
    number = std::min(number * 10 + (rest[0] - '0'), kMostWidth);
    rest.remove_prefix(1);
  }
  return number;
}

bool Take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

// Appends the character that an escape stands for, after its backslash.
void AppendEscaped(std::string& out, char c) {
  out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

// The end of the quoted text that `text` begins with; npos if it does not end.
std::size_t EndOfQuoted(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i;
    }
  }
  return std::string_view::npos;
}

std::string SignedText(std::uint64_t number, unsigned bits) {
  const unsigned unused = 64 - bits;
  return fmt::format("{}", static_cast<std::int64_t>(number << unused) >> unused);
}

std::string UnsignedText(std::uint64_t number, unsigned bits, char conversion) {
  const unsigned unused = 64 - bits;
  number = number << unused >> unused;
  if (conversion == 'x') return fmt::format("{:x}", number);
  if (conversion == 'X') return fmt::format("{:X}", number);
  return conversion == 'o' ? fmt::format("{:o}", number) : fmt::format("{}", number);
}

}  // namespace

// Parses what follows a '%'. Returns false if it is not understood.
bool PrintFormat::ParseConversion(std::string_view& rest, Piece& piece) {
  for (bool is_flag = true; is_flag;) {
    is_flag = false;
    if (Take(rest, '-')) is_flag = piece.is_left = true;
    if (Take(rest, '0')) is_flag = piece.has_zeros = true;
    if (Take(rest, '#')) is_flag = piece.has_prefix = true;
    if (Take(rest, '+')) is_flag = piece.has_plus = true;
  }
  piece.width_is_argument = Take(rest, '*');
  if (!piece.width_is_argument) piece.width = TakeNumber(rest);
  if (Take(rest, '.')) {
    piece.precision_is_argument = Take(rest, '*');
    piece.precision = piece.precision_is_argument ? 0 : TakeNumber(rest);
  }
  while (!rest.empty() && std::string_view("hlLzjt").find(rest[0]) != std::string_view::npos) {
    piece.bits = rest[0] == 'h' ? piece.bits / 2 : 64;
    rest.remove_prefix(1);
  }
  if (rest.empty() || std::string_view("diuxXopsc").find(rest[0]) == std::string_view::npos) {
    return false;
  }
  piece.conversion = rest[0];
  rest.remove_prefix(1);
  const bool has_extension = piece.conversion == 'p' && !rest.empty() &&
                             std::isalpha(static_cast<unsigned char>(rest[0])) != 0;
  if (!has_extension) return true;
  piece.extension = rest[0];
  rest.remove_prefix(1);
  // Addresses of the network, unique ids and the like need more than a number.
  return std::string_view("FfSsKx").find(piece.extension) != std::string_view::npos;
}

std::optional<PrintFormat> PrintFormat::Parse(std::string_view text) {
  text = Trimmed(text);
  const std::size_t end = text.starts_with('"') ? EndOfQuoted(text) : std::string_view::npos;
  if (end == std::string_view::npos) return {};
  std::string_view rest = text.substr(1, end - 1);
  std::string_view arguments = Trimmed(text.substr(end + 1));
  if (!arguments.empty() && !Take(arguments, ',')) return {};

  PrintFormat format;
  Piece piece;
  std::size_t needed = 0;
  while (!rest.empty()) {
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '\\' && !rest.empty()) {
      AppendEscaped(piece.text, rest[0]);
      rest.remove_prefix(1);
    } else if (c != '%') {
      piece.text += c;
    } else if (Take(rest, '%')) {
      piece.text += '%';
    } else {
      if (!format.ParseConversion(rest, piece)) return {};
      needed += 1 + (piece.width_is_argument ? 1U : 0U) + (piece.precision_is_argument ? 1U : 0U);
      format.pieces_.push_back(std::exchange(piece, {}));
    }
  }
  format.pieces_.push_back(std::move(piece));
  std::optional<std::vector<PrintExpression>> parsed = ParsePrintExpressions(arguments);
  if (!parsed || parsed->size() < needed) return {};
  format.arguments_ = *std::move(parsed);
  return format;
}

void PrintFormat::Append(std::string& out, const PrintedSample& sample) const {
  std::size_t next = 0;
  const auto number = [&] {
    const auto value = static_cast<std::int32_t>(NumberOf(arguments_[next++], sample));
    return std::clamp(value, -kMostWidth, kMostWidth);
  };
  for (const Piece& piece : pieces_) {
    out += piece.text;
    if (piece.conversion == 0) continue;
    if (!piece.width_is_argument && !piece.precision_is_argument) {
      AppendValue(out, piece, arguments_[next++], sample);
      continue;
    }
    Piece sized = piece;
    if (piece.width_is_argument) sized.width = number();
    if (sized.width < 0) sized.is_left = true;
    sized.width = std::abs(sized.width);
    if (piece.precision_is_argument) sized.precision = number();
    AppendValue(out, sized, arguments_[next++], sample);
  }
}

void PrintFormat::AppendValue(std::string& out, const Piece& piece, const PrintExpression& argument,
                              const PrintedSample& sample) const {
  std::string text, prefix;
  bool is_number = true;
  if (piece.conversion == 's') {
    AppendTextOf(text, argument, sample);
    if (piece.precision >= 0) {
      text.resize(std::min(text.size(), static_cast<std::size_t>(piece.precision)));
    }
    is_number = false;
  } else {
    const std::uint64_t number = NumberOf(argument, sample);
    if (piece.conversion == 'c') {
      text = static_cast<char>(number);
      is_number = false;
    } else if (piece.conversion == 'p') {
      text = number == 0 && piece.extension == 0 ? "(nil)" : fmt::format("0x{:x}", number);
      is_number = false;
    } else if (piece.conversion == 'd' || piece.conversion == 'i') {
      text = SignedText(number, piece.bits);
      if (text.starts_with('-')) {
        prefix = "-";
        text.erase(0, 1);
      } else if (piece.has_plus) {
        prefix = "+";
      }
    } else {
      text = UnsignedText(number, piece.bits, piece.conversion);
      if (piece.has_prefix && text != "0" && piece.conversion != 'u') {
        prefix = piece.conversion == 'o' ? "0" : piece.conversion == 'X' ? "0X" : "0x";
      }
    }
    const auto precision = static_cast<std::size_t>(std::max(piece.precision, 0));
    if (is_number && text.size() < precision) text.insert(0, precision - text.size(), '0');
  }
  const std::size_t size = prefix.size() + text.size();
  const std::size_t fill = std::max(static_cast<std::size_t>(piece.width), size) - size;
  const bool fills_zeros = piece.has_zeros && is_number && !piece.is_left && piece.precision < 0;
  if (!piece.is_left && !fills_zeros) out.append(fill, ' ');
  out += prefix;
  if (fills_zeros) out.append(fill, '0');
  out += text;
  if (piece.is_left) out.append(fill, ' ');
}

}  // namespace perftape::perfdata
