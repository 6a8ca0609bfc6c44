// SPDX-License-Identifier: Apache-2.0
#include "formats/demangle/other_languages.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace perftape::demangle {
namespace {

using CodeAndText = std::pair<std::string_view, std::string_view>;

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Reads the descriptor of a field or method (the Java virtual machine specification, 4.3).
class Descriptor {
 public:
  explicit Descriptor(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }

  bool Eat(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // "Lcom/shop/Cart;" with `separator` between the names.
  std::optional<std::string> Class(char separator) {
    const std::size_t end = text_.find(';', at_);
    if (!Eat('L') || end == text_.npos || end == at_) return std::nullopt;
    std::string name(text_.substr(at_, end - at_));
    if (name.find_first_of("()[ <>") != name.npos) return std::nullopt;
    std::ranges::replace(name, '/', separator);
    at_ = end + 1;
    return name;
  }

  std::optional<std::string> Type() {
    constexpr std::array<std::pair<char, std::string_view>, 9> kTypes = {{{'B', "byte"},
                                                                          {'C', "char"},
                                                                          {'D', "double"},
                                                                          {'F', "float"},
                                                                          {'I', "int"},
                                                                          {'J', "long"},
                                                                          {'S', "short"},
                                                                          {'V', "void"},
                                                                          {'Z', "boolean"}}};
    std::string dimensions;
    while (Eat('[')) dimensions += "[]";
    if (at_end()) return std::nullopt;
    if (text_[at_] == 'L') {
      auto name = Class('.');
      return name ? std::optional(*name + dimensions) : std::nullopt;
    }
    for (const auto& [code, word] : kTypes) {
      if (Eat(code)) return std::string(word) + dimensions;
    }
    return std::nullopt;
  }

  // "(I[J)J": the parameters, without the type of the result.
  std::optional<std::string> Parameters() {
    if (!Eat('(')) return std::nullopt;
    std::string parameters;
    while (!Eat(')')) {
      const auto type = Type();
      if (!type) return std::nullopt;
      parameters += (parameters.empty() ? "" : ", ") + *type;
    }
    if (!Type()) return std::nullopt;
    return parameters;
  }

  std::string_view Method() {
    const std::size_t end = std::min(text_.find('(', at_), text_.size());
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    return name;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<std::string> DemangleOneMethod(std::string_view name, Demangling how) {
  Descriptor at(name);
  const std::size_t class_end = name.find(';');
  const bool is_of_map = name.substr(std::min(name.size(), class_end + 1)).starts_with("::");
  auto text = at.Class(is_of_map ? '/' : '.');
  if (!text) return std::nullopt;
  const std::string_view method = at.Method();
  if (method.empty() || method.find_first_of(";/ ") != method.npos) return std::nullopt;
  if (!is_of_map && !method.starts_with('<')) *text += '.';
  *text += method;
  if (at.at_end()) return is_of_map ? text : std::nullopt;
  const auto parameters = at.Parameters();
  if (!parameters || !at.at_end()) return std::nullopt;
  return how == Demangling::kSimple ? *text : *text + "(" + *parameters + ")";
}

// Returns the text of the escape at the start of `text`, "$LT$", and its size; 0 for none.
std::pair<std::string, std::size_t> RustEscape(std::string_view text) {
  constexpr std::array<CodeAndText, 9> kEscapes = {{{"$SP$", "@"},
                                                    {"$BP$", "*"},
                                                    {"$RF$", "&"},
                                                    {"$LT$", "<"},
                                                    {"$GT$", ">"},
                                                    {"$LP$", "("},
                                                    {"$RP$", ")"},
                                                    {"$C$", ","},
                                                    {"..", "::"}}};
  for (const auto& [code, plain] : kEscapes) {
    if (text.starts_with(code)) return {std::string(plain), code.size()};
  }
  if (!text.starts_with("$u")) return {{}, 0};
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  const auto size = static_cast<std::size_t>(end - text.data());
  const bool is_plain = error == std::errc() && value >= 0x20 && value < 0x7f;
  if (!is_plain || size >= text.size() || text[size] != '$') return {{}, 0};
  return {std::string(1, static_cast<char>(value)), size + 1};
}

}  // namespace

std::optional<std::string> DemangleJava(std::string_view name, Demangling how) {
  std::string all;
  while (true) {
    const std::size_t end = name.find("->");
    const auto one = DemangleOneMethod(name.substr(0, end), how);
    if (!one) return std::nullopt;
    all += *one;
    if (end == name.npos) return all;
    all += "->";
    name.remove_prefix(end + 2);
  }
}

std::optional<std::string> DemangleOcaml(std::string_view name) {
  if (!name.starts_with("caml") || name.size() < 5 || name[4] < 'A' || name[4] > 'Z') {
    return std::nullopt;
  }
  name.remove_prefix(4);
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    if (rest.starts_with("__")) {
      text += '.';
      ++i;
    } else if (rest.size() >= 3 && rest[0] == '$' && IsHex(rest[1]) && IsHex(rest[2])) {
      unsigned value = 0;
      std::from_chars(rest.data() + 1, rest.data() + 3, value, 16);
      text += static_cast<char>(value);
      i += 2;
    } else {
      text += rest[0];
    }
  }
  return text;
}

std::optional<std::string> DemangleHalfRust(std::string_view name) {
  constexpr std::size_t kHashSize = 16;
  const std::size_t hash = name.rfind("::h");
  if (hash == name.npos || hash == 0 || name.size() - hash != 3 + kHashSize) return std::nullopt;
  if (!std::ranges::all_of(name.substr(hash + 3), IsHex)) return std::nullopt;
  name = name.substr(0, hash);
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_start = i == 0 || name.substr(0, i).ends_with("::");
    if (is_start && name.substr(i).starts_with("_$")) continue;  // identifiers begin with no '$'
    const auto [plain, size] = RustEscape(name.substr(i));
    if (size == 0) {
      text += name[i];
    } else {
      text += plain;
      i += size - 1;
    }
  }
  return text;
}

}  // namespace perftape::demangle
