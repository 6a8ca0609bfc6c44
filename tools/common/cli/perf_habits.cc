// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/perf_habits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "formats/base/text.h"
#include "tools/common/cli/escape.h"

namespace perftape::cli {
namespace {

constexpr std::string_view kNo = "no-";

bool IsOfPerf(const Option& row) {
  return row.verdict != Verdict::kOurs && !row.name.empty();
}

// Returns the name that takes an option back: "inherit" of "no-inherit".
std::string TakenBackBy(const Option& row) {
  if (row.name.starts_with(kNo)) return std::string(row.name.substr(kNo.size()));
  return std::string(kNo).append(row.name);
}

bool IsForeign(const Command& command, std::string_view name) {
  return std::ranges::find(command.foreign, name, &ForeignOption::name) != command.foreign.end();
}

// Returns "--all-cpus, --all-user or 2 more".
std::string NamesText(std::vector<std::string> names) {
  constexpr std::size_t kMostNames = 4;
  const std::size_t left_out = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - left_out);
  for (std::string& name : names) name.insert(0, "--");
  if (left_out > 0) return fmt::format("{} or {} more", Joined(names, ", "), left_out);
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", Joined(names, ", "), last);
}

}  // namespace

Result<std::string> WithWholeName(const Command& command, std::string_view word) {
  if (!word.starts_with("--")) return std::string(word);
  const std::string_view name = word.substr(2, word.find('=') - 2);
  const bool is_whole = FindOption(command, name) != nullptr ||
                        FindTakenBack(command, name) != nullptr || IsForeign(command, name);
  if (name.empty() || is_whole) return std::string(word);
  std::vector<std::string> names = NamesThatTakeBack(command);
  for (const Option& row : command.options) {
    if (IsOfPerf(row)) names.emplace_back(row.name);
  }
  std::erase_if(names, [&](const std::string& each) { return !each.starts_with(name); });
  if (names.empty()) return std::string(word);
  if (names.size() > 1) {
    std::ranges::sort(names);
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("--{} is ambiguous: use {}", EscapeForTerminal(name),
                            NamesText(std::move(names))));
  }
  return fmt::format("--{}{}", names.front(), word.substr(2 + name.size()));
}

std::vector<std::string> NamesThatTakeBack(const Command& command) {
  std::vector<std::string> names;
  if (command.habits == Habits::kOwn) return names;
  for (const Option& row : command.options) {
    if (!IsOfPerf(row)) continue;
    std::string name = TakenBackBy(row);
    if (FindOption(command, name) == nullptr) names.push_back(std::move(name));
  }
  return names;
}

const Option* FindTakenBack(const Command& command, std::string_view name) {
  if (command.habits == Habits::kOwn) return nullptr;
  const auto is_it = [&](const Option& row) { return IsOfPerf(row) && TakenBackBy(row) == name; };
  const auto found = std::ranges::find_if(command.options, is_it);
  return found == command.options.end() ? nullptr : &*found;
}

}  // namespace perftape::cli
