// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/growth_rules.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include "convert/summarize/estimate.h"

namespace perftape::summarize {
namespace {

// Returns the growth that the rule allows, in the measure of the change.
double AllowedGrowth(const GrowthRule& rule, const Change& change) {
  if (rule.unit == GrowthRule::Unit::kPoints) return rule.limit / 100;
  return std::abs(change.before.value) * rule.limit / 100;
}

// Returns the probability with which chance may make one function of `functions` grow, so that it
// makes any of them grow with `risk`. That is Bonferroni's correction in Tarone's form: a function
// that could not be significant wherever its samples were does not count.
double RiskOfOne(const std::vector<const FunctionChange*>& functions, const GrowthRule& rule,
                 double risk) {
  std::vector<double> least_chances;
  for (const FunctionChange* function : functions) {
    const Change& change = rule.ChangeOf(*function);
    Estimate growth = change.difference();
    growth.value =
        std::abs(change.before.value) + std::abs(change.after.value);  // all samples are later ones
    least_chances.push_back(ChanceOf(growth));
  }
  std::ranges::sort(least_chances);
  for (std::size_t count = 1;; ++count) {
    const double of_one = risk / static_cast<double>(count);
    const auto end = std::ranges::upper_bound(least_chances, of_one);
    if (std::cmp_less_equal(end - least_chances.begin(), count)) return of_one;
  }
}

}  // namespace

RuleResult CheckRules(const std::vector<GrowthRule>& rules, const EventDifference& difference) {
  constexpr double kRisk = 0.01;
  RuleResult result;
  for (const GrowthRule& rule : rules) {
    std::vector<const FunctionChange*> matches;
    for (const FunctionChange& function : difference.functions) {
      if (rule.functions.Match(function.function)) matches.push_back(&function);
    }
    if (matches.empty()) result.unused.push_back(&rule);
    const double risk = RiskOfOne(matches, rule, kRisk);
    for (const FunctionChange* function : matches) {
      const Change& change = rule.ChangeOf(*function);
      const Estimate growth = change.difference();
      // The interval has two ends, and only growth fails.
      const double error = ErrorOf(growth, 2 * risk);
      if (growth.value <= AllowedGrowth(rule, change) || growth.value <= error) continue;
      result.violations.push_back({.rule = &rule, .function = function, .error = error});
    }
  }
  std::ranges::stable_sort(result.violations, std::greater(), [](const Violation& violation) {
    return violation.change().difference().value;
  });
  return result;
}

}  // namespace perftape::summarize
