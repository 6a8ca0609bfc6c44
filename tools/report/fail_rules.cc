// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fail_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/percent.h"
#include "tools/common/cli/escape.h"
#include "tools/report/short_name.h"

namespace perftape::report_tool {
namespace {

using summarize::GrowthRule;

std::unexpected<Error> NoRule(std::string_view text, std::string_view reason) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("--fail-on: '{}' {}: use 'GLOB self +5%', 'GLOB total +5%' or 'GLOB self "
                          "+2pp'",
                          cli::EscapeForTerminal(text), reason));
}

// Removes the last word of `text` and returns it.
std::string_view PopWord(std::string_view& text) {
  text = text.substr(0, text.find_last_not_of(" \t") + 1);
  const std::size_t space = text.find_last_of(" \t");
  const std::size_t start = space == std::string_view::npos ? 0 : space + 1;
  const std::string_view word = text.substr(start);
  text = text.substr(0, start);
  return word;
}

std::optional<double> ParseLimit(std::string_view word, GrowthRule::Unit& unit) {
  if (!word.starts_with('+')) return {};
  word.remove_prefix(1);
  if (word.ends_with("pp")) {
    unit = GrowthRule::Unit::kPoints;
    word.remove_suffix(2);
  } else if (word.ends_with('%')) {
    unit = GrowthRule::Unit::kPercent;
    word.remove_suffix(1);
  } else {
    return {};
  }
  return DecimalOf(word);
}

// Names of C++ templates can have a thousand characters.
constexpr std::size_t kMostLetters = 100;

}  // namespace

Result<GrowthRule> ParseFailRule(std::string_view text) {
  GrowthRule rule = {.text = std::string(text), .functions = {}};
  std::string_view rest = text;
  const auto limit = ParseLimit(PopWord(rest), rule.unit);
  if (!limit) return NoRule(text, "has no limit");
  rule.limit = *limit;
  const std::string_view of = PopWord(rest);
  if (of == "total") {
    rule.of = GrowthRule::Of::kTotal;
  } else if (of != "self") {
    return NoRule(text, "says neither self nor total");
  }
  const std::size_t end = rest.find_last_not_of(" \t");
  if (end == std::string_view::npos) return NoRule(text, "names no function");
  rest = rest.substr(0, end + 1);
  rule.functions.Add(rest.substr(rest.find_first_not_of(" \t")));
  return rule;
}

Result<std::vector<GrowthRule>> ReadFailRules(const std::vector<std::string>& arguments) {
  std::vector<GrowthRule> rules;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with('@')) {
      TRY_ASSIGN(GrowthRule rule, ParseFailRule(argument));
      rules.push_back(std::move(rule));
      continue;
    }
    TRY_ASSIGN(const std::string lines, ReadWholeFile(argument.substr(1)));
    for (std::size_t start = 0; start < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', start), lines.size());
      const std::string_view line = std::string_view(lines).substr(start, end - start);
      start = end + 1;
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos || line[first] == '#') continue;
      TRY_ASSIGN(GrowthRule rule,
                 ParseFailRule(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first)));
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

std::string ViolationText(const summarize::Violation& violation) {
  const GrowthRule& rule = *violation.rule;
  const std::string name = ShortName(violation.function->function, kMostLetters);
  const summarize::Change& change = violation.change();
  const double growth = change.difference().value;
  const std::string_view of = rule.of == GrowthRule::Of::kSelf ? "self" : "total";
  if (change.before.value == 0) {
    return fmt::format("{}: {} grew from zero, more than '{}' allows", name, of, rule.text);
  }
  const double scale = 100 / std::abs(change.before.value);
  return fmt::format("{}: {} grew by {:+.1f} % (at least {:+.1f} %), more than '{}' allows", name,
                     of, scale * growth, scale * (growth - violation.error), rule.text);
}

}  // namespace perftape::report_tool
