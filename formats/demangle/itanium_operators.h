// SPDX-License-Identifier: Apache-2.0
// The tables of the Itanium ABI's manglings: operators, builtin types, special names.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace perftape::demangle {

struct OperatorName {
  std::string_view code, symbol;
  std::uint8_t operands = 2;
};

inline constexpr auto kOperators = std::to_array<OperatorName>({
    {"aN", "&="},          {"aS", "="},           {"aa", "&&"},          {"ad", "&", 1},
    {"an", "&"},           {"at", "alignof ", 1}, {"aw", "co_await", 1}, {"az", "alignof ", 1},
    {"cl", "()"},          {"cm", ","},           {"co", "~", 1},        {"dV", "/="},
    {"da", "delete[]", 1}, {"de", "*", 1},        {"dl", "delete", 1},   {"dv", "/"},
    {"eO", "^="},          {"eo", "^"},           {"eq", "=="},          {"ge", ">="},
    {"gt", ">"},           {"ix", "[]"},          {"lS", "<<="},         {"le", "<="},
    {"ls", "<<"},          {"lt", "<"},           {"mI", "-="},          {"mL", "*="},
    {"mi", "-"},           {"ml", "*"},           {"mm", "--", 1},       {"na", "new[]", 1},
    {"ne", "!="},          {"ng", "-", 1},        {"nt", "!", 1},        {"nw", "new", 1},
    {"oR", "|="},          {"oo", "||"},          {"or", "|"},           {"pL", "+="},
    {"pl", "+"},           {"pm", "->*"},         {"pp", "++", 1},       {"ps", "+", 1},
    {"pt", "->"},          {"qu", "?", 3},        {"rM", "%="},          {"rS", ">>="},
    {"rm", "%"},           {"rs", ">>"},          {"ss", "<=>"},
});

// The operator whose code `text` begins with, or null.
inline const OperatorName* FindOperator(std::string_view text) {
  const auto* const found = std::ranges::find_if(
      kOperators, [&](const OperatorName& name) { return text.starts_with(name.code); });
  return found == kOperators.end() ? nullptr : found;
}

using CodeAndText = std::pair<std::string_view, std::string_view>;

inline constexpr auto kBuiltinTypes = std::to_array<CodeAndText>({
    {"v", "void"},
    {"w", "wchar_t"},
    {"b", "bool"},
    {"c", "char"},
    {"a", "signed char"},
    {"h", "unsigned char"},
    {"s", "short"},
    {"t", "unsigned short"},
    {"i", "int"},
    {"j", "unsigned int"},
    {"l", "long"},
    {"m", "unsigned long"},
    {"x", "long long"},
    {"y", "unsigned long long"},
    {"n", "__int128"},
    {"o", "unsigned __int128"},
    {"f", "float"},
    {"d", "double"},
    {"e", "long double"},
    {"g", "__float128"},
    {"z", "..."},
    {"Dd", "decimal64"},
    {"De", "decimal128"},
    {"Df", "decimal32"},
    {"Dh", "half"},
    {"Di", "char32_t"},
    {"Ds", "char16_t"},
    {"Du", "char8_t"},
    {"Da", "auto"},
    {"Dc", "decltype(auto)"},
    {"Dn", "decltype(nullptr)"},
});

inline constexpr auto kStandardNames = std::to_array<CodeAndText>({
    {"Sa", "std::allocator"},
    {"Sb", "std::basic_string"},
    {"Ss", "std::string"},
    {"Si", "std::istream"},
    {"So", "std::ostream"},
    {"Sd", "std::iostream"},
});

inline constexpr auto kSpecialTypes = std::to_array<CodeAndText>({
    {"TV", "vtable for "},
    {"TT", "VTT for "},
    {"TI", "typeinfo for "},
    {"TS", "typeinfo name for "},
});

inline constexpr auto kSpecialNames = std::to_array<CodeAndText>({
    {"TW", "TLS wrapper function for "},
    {"TH", "TLS init function for "},
    {"GV", "guard variable for "},
});

}  // namespace perftape::demangle
