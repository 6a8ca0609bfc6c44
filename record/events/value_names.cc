// SPDX-License-Identifier: Apache-2.0
#include "record/events/value_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "formats/base/text.h"

namespace perftape::record {
namespace {

bool IsIdentifier(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

// Whether "REC->field" is in the expression, also as in "(REC->field & ~2)".
bool Names(std::string_view expression, std::string_view field) {
  constexpr std::string_view kRecord = "REC->";
  for (std::size_t at = expression.find(kRecord); at != std::string_view::npos;
       at = expression.find(kRecord, at + 1)) {
    const std::string_view rest = expression.substr(at + kRecord.size());
    if (!rest.starts_with(field)) continue;
    if (rest.size() == field.size() || !IsIdentifier(rest[field.size()])) return true;
  }
  return false;
}

// "2", "0x10", "8UL"
std::optional<std::uint64_t> ParseValue(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  while (!text.empty() && std::string_view("uUlL").contains(text.back())) text.remove_suffix(1);
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, is_hex ? 16 : 10);
  if (error != std::errc() || rest != end) return {};
  return number;
}

// Parses `, { 2, "NOT_SPECIFIED" }, { 3, "NO_SOCKET" })`, what follows the field in the call. Stops
// at its end.
void AppendPairs(std::string_view text, std::vector<ValueName>& names) {
  for (;;) {
    const std::size_t open = text.find_first_of("{)");
    if (open == std::string_view::npos || text[open] == ')') return;
    text.remove_prefix(open + 1);
    const std::size_t quote = text.find('"');
    if (quote == std::string_view::npos) return;
    const std::size_t end = text.find('"', quote + 1);
    if (end == std::string_view::npos) return;
    const std::string_view before = text.substr(0, quote);
    std::string_view value = Trimmed(before.substr(0, before.rfind(',')));
    const bool is_negative = value.starts_with('-');
    if (is_negative) value.remove_prefix(1);
    if (const std::optional<std::uint64_t> number = ParseValue(value)) {
      names.push_back({.name = std::string(text.substr(quote + 1, end - quote - 1)),
                       .value = is_negative ? ~*number + 1 : *number,
                       .is_negative = is_negative});
    }
    const std::size_t close = text.find('}', end);
    text.remove_prefix(std::min(close, text.size()));
  }
}

}  // namespace

std::vector<ValueName> ValueNamesOf(std::string_view format_file, std::string_view field) {
  std::vector<ValueName> names;
  const std::size_t print = format_file.find("\nprint fmt:");
  if (print == std::string_view::npos) return names;
  std::string_view text = format_file.substr(print);
  constexpr std::string_view kPrinters[] = {"__print_symbolic(", "__print_flags("};
  for (const std::string_view call : kPrinters) {
    for (std::size_t at = text.find(call); at != std::string_view::npos;
         at = text.find(call, at + 1)) {
      const std::string_view arguments = text.substr(at + call.size());
      const std::size_t comma = std::min(arguments.find(','), arguments.size());
      if (Names(arguments.substr(0, comma), field)) AppendPairs(arguments.substr(comma), names);
    }
  }
  return names;
}

}  // namespace perftape::record
