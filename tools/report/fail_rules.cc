// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fail_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "formats/base/file.h"
#include "formats/base/percent.h"
#include "tools/common/cli/escape.h"
#include "tools/report/short_name.h"

namespace perftape::report_tool {
namespace {

using summarize::Change;
using summarize::Estimate;
using summarize::FunctionChange;

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

std::optional<double> ParseLimit(std::string_view word, FailRule::Unit& unit) {
  if (!word.starts_with('+')) return {};
  word.remove_prefix(1);
  if (word.ends_with("pp")) {
    unit = FailRule::Unit::kPoints;
    word.remove_suffix(2);
  } else if (word.ends_with('%')) {
    unit = FailRule::Unit::kPercent;
    word.remove_suffix(1);
  } else {
    return {};
  }
  return DecimalOf(word);
}

const Change& ChangeOf(const FunctionChange& function, FailRule::Of of) {
  return of == FailRule::Of::kSelf ? function.self : function.inclusive;
}

// Returns the growth that the rule allows, in the measure of the change.
double AllowedGrowth(const FailRule& rule, const Change& change) {
  if (rule.unit == FailRule::Unit::kPoints) return rule.limit / 100;
  return change.before.value * rule.limit / 100;
}

// Returns the probability with which chance may make one function of `functions` grow, so that it
// makes any of them grow with `risk`. That is Bonferroni's correction in Tarone's form: a function
// that could not be significant wherever its samples were does not count.
double RiskOfOne(const std::vector<const FunctionChange*>& functions, FailRule::Of of,
                 double risk) {
  std::vector<double> least_chances;
  for (const FunctionChange* function : functions) {
    const Change& change = ChangeOf(*function, of);
    Estimate growth = change.difference();
    growth.value = change.before.value + change.after.value;  // all samples are later ones
    least_chances.push_back(ChanceOf(growth));
  }
  std::ranges::sort(least_chances);
  for (std::size_t count = 1;; ++count) {
    const double of_one = risk / static_cast<double>(count);
    const auto end = std::ranges::upper_bound(least_chances, of_one);
    if (std::cmp_less_equal(end - least_chances.begin(), count)) return of_one;
  }
}

// Names of C++ templates can have a thousand characters.
constexpr std::size_t kMostLetters = 100;

std::string ViolationText(const FailRule& rule, const FunctionChange& function, double error) {
  const std::string name = ShortName(function.function, kMostLetters);
  const Change& change = ChangeOf(function, rule.of);
  const double growth = change.difference().value;
  const std::string_view of = rule.of == FailRule::Of::kSelf ? "self" : "total";
  if (change.before.value == 0) {
    return fmt::format("{}: is new in {}, more than '{}' allows", name, of, rule.text);
  }
  return fmt::format("{}: {} grew by {:+.1f} % (at least {:+.1f} %), more than '{}' allows", name,
                     of, 100 * growth / change.before.value,
                     100 * (growth - error) / change.before.value, rule.text);
}

}  // namespace

Result<FailRule> ParseFailRule(std::string_view text) {
  FailRule rule = {.text = std::string(text), .functions = {}};
  std::string_view rest = text;
  const auto limit = ParseLimit(PopWord(rest), rule.unit);
  if (!limit) return NoRule(text, "has no limit");
  rule.limit = *limit;
  const std::string_view of = PopWord(rest);
  if (of == "total") {
    rule.of = FailRule::Of::kTotal;
  } else if (of != "self") {
    return NoRule(text, "says neither self nor total");
  }
  const std::size_t end = rest.find_last_not_of(" \t");
  if (end == std::string_view::npos) return NoRule(text, "names no function");
  rest = rest.substr(0, end + 1);
  rule.functions.Add(rest.substr(rest.find_first_not_of(" \t")));
  return rule;
}

Result<std::vector<FailRule>> ReadFailRules(const std::vector<std::string>& arguments) {
  std::vector<FailRule> rules;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with('@')) {
      TRY_ASSIGN(FailRule rule, ParseFailRule(argument));
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
      TRY_ASSIGN(FailRule rule,
                 ParseFailRule(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first)));
      rules.push_back(std::move(rule));
    }
  }
  return rules;
}

RuleResult CheckRules(const std::vector<FailRule>& rules,
                      const summarize::EventDifference& difference) {
  constexpr double kRisk = 0.01;
  RuleResult result;
  for (const FailRule& rule : rules) {
    std::vector<const FunctionChange*> matches;
    for (const FunctionChange& function : difference.functions) {
      if (rule.functions.Match(function.function)) matches.push_back(&function);
    }
    if (matches.empty()) result.unused.push_back(&rule);
    const double risk = RiskOfOne(matches, rule.of, kRisk);
    for (const FunctionChange* function : matches) {
      const Change& change = ChangeOf(*function, rule.of);
      const Estimate growth = change.difference();
      // The interval has two ends, and only growth fails.
      const double error = ErrorOf(growth, 2 * risk);
      if (growth.value <= AllowedGrowth(rule, change) || growth.value <= error) continue;
      result.violations.push_back(
          {.rule = &rule, .function = function, .text = ViolationText(rule, *function, error)});
    }
  }
  std::ranges::stable_sort(result.violations, std::greater(), [](const Violation& violation) {
    return ChangeOf(*violation.function, violation.rule->of).difference().value;
  });
  return result;
}

}  // namespace perftape::report_tool
