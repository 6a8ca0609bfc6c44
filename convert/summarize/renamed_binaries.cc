// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/renamed_binaries.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <tuple>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::summarize {
namespace {

// The functions of each binary.
using Binaries = std::map<std::string_view, std::set<std::string_view>>;

Binaries BinariesOf(const std::set<FunctionKey>& functions) {
  Binaries binaries;
  for (const auto& [function, binary] : functions) binaries[binary].insert(function);
  return binaries;
}

// Returns the binaries of `some` that `others` does not have.
Binaries OnlyIn(Binaries some, const Binaries& others) {
  std::erase_if(
      some, [&](const auto& entry) { return entry.first.empty() || others.contains(entry.first); });
  return some;
}

bool IsSeparator(char letter) {
  return std::string_view(".-_+@").contains(letter);
}

// A word of digits, "v2", or a hash: 7 hexadecimal digits or more with a decimal one among them.
bool IsVersionOrHash(std::string_view word) {
  const auto is_digit = [](unsigned char letter) { return std::isdigit(letter) != 0; };
  const auto is_hex = [](unsigned char letter) { return std::isxdigit(letter) != 0; };
  if (word.starts_with('v') && word.size() > 1) word.remove_prefix(1);
  if (word.empty()) return false;
  if (std::ranges::all_of(word, is_digit)) return true;
  constexpr std::size_t kShortestHash = 7;  // as git shortens them
  return word.size() >= kShortestHash && std::ranges::all_of(word, is_hex) &&
         std::ranges::any_of(word, is_digit);
}

// Returns the name of code without a name: "[app-1.0]".
bool IsUnresolved(std::string_view function, std::string_view binary) {
  return function == convert::NameOfUnresolved(binary);
}

std::size_t FunctionsInCommon(const std::set<std::string_view>& some,
                              const std::set<std::string_view>& others) {
  return static_cast<std::size_t>(std::ranges::count_if(
      some, [&](std::string_view function) { return others.contains(function); }));
}

void PairByName(Binaries& before, Binaries& after, RenamedBinaries& renamed) {
  std::map<std::string, std::vector<std::string_view>> old_names, new_names;
  for (const auto& [binary, functions] : before) {
    old_names[NameWithoutVersion(binary)].push_back(binary);
  }
  for (const auto& [binary, functions] : after) {
    new_names[NameWithoutVersion(binary)].push_back(binary);
  }
  for (const auto& [name, olds] : old_names) {
    const auto news = new_names.find(name);
    if (news == new_names.end() || olds.size() != 1 || news->second.size() != 1) continue;
    renamed.emplace(olds.front(), news->second.front());
    before.erase(olds.front());
    after.erase(news->second.front());
  }
}

void PairByFunctions(const Binaries& before, const Binaries& after, RenamedBinaries& renamed) {
  // Negative, so that the largest number is the first.
  std::vector<std::tuple<std::ptrdiff_t, std::string_view, std::string_view>> pairs;
  for (const auto& [old_binary, old_functions] : before) {
    for (const auto& [new_binary, new_functions] : after) {
      const std::size_t common = FunctionsInCommon(old_functions, new_functions);
      // Each program has a main function.
      if (3 * common < std::max(old_functions.size(), new_functions.size())) continue;
      pairs.emplace_back(-static_cast<std::ptrdiff_t>(common), old_binary, new_binary);
    }
  }
  std::ranges::sort(pairs);
  std::set<std::string_view> taken;
  for (const auto& [common, old_binary, new_binary] : pairs) {
    if (taken.contains(new_binary) || renamed.contains(std::string(old_binary))) continue;
    taken.insert(new_binary);
    renamed.emplace(old_binary, new_binary);
  }
}

}  // namespace

std::string NameWithoutVersion(std::string_view binary) {
  std::string name;
  while (!binary.empty()) {
    const auto start = std::ranges::find_if_not(binary, IsSeparator);
    const auto end = std::find_if(start, binary.end(), IsSeparator);
    const std::string_view word(start, end);
    // A name is never empty, and begins with its first word.
    if (name.empty() || !IsVersionOrHash(word)) name.append(binary.begin(), end);
    binary = std::string_view(end, binary.end());
  }
  return name;
}

RenamedBinaries FindRenamedBinaries(const std::set<FunctionKey>& before,
                                    const std::set<FunctionKey>& after) {
  const Binaries all_old = BinariesOf(before);
  const Binaries all_new = BinariesOf(after);
  Binaries only_old = OnlyIn(all_old, all_new);
  Binaries only_new = OnlyIn(all_new, all_old);
  RenamedBinaries renamed;
  PairByName(only_old, only_new, renamed);
  PairByFunctions(only_old, only_new, renamed);
  return renamed;
}

std::map<FunctionKey, FunctionKey> PairFunctions(const std::set<FunctionKey>& before,
                                                 const std::set<FunctionKey>& after,
                                                 const RenamedBinaries& renamed) {
  const Binaries all_old = BinariesOf(before);
  const Binaries only_new = OnlyIn(BinariesOf(after), all_old);
  const Binaries only_old = OnlyIn(all_old, BinariesOf(after));
  std::map<FunctionKey, FunctionKey> pairs;
  for (const FunctionKey& key : before) {
    const auto& [function, binary] = key;
    if (!only_old.contains(binary)) continue;
    const auto found = renamed.find(binary);
    if (IsUnresolved(function, binary)) {
      if (found != renamed.end()) {
        pairs[key] = {convert::NameOfUnresolved(found->second), found->second};
      }
      continue;
    }
    const FunctionKey same = {function, found == renamed.end() ? binary : found->second};
    std::vector<std::string_view> others;
    for (const auto& [other, functions] : only_new) {
      if (functions.contains(function)) others.push_back(other);
    }
    const bool is_elsewhere = !after.contains(same) && others.size() == 1;
    pairs[key] = is_elsewhere ? FunctionKey(function, others.front()) : same;
  }
  return pairs;
}

}  // namespace perftape::summarize
