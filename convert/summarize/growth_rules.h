// SPDX-License-Identifier: Apache-2.0
// Rules for how much a function may grow between two profiles, and the functions that break them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/filter/name_patterns.h"
#include "convert/summarize/difference.h"

namespace perftape::summarize {

struct GrowthRule {
  std::string text;  // as it was given
  convert::Globs functions;
  enum class Of : std::uint8_t { kSelf, kTotal } of = Of::kSelf;
  double limit = 0;
  // Percent of the old value, or percentage points of the event's total.
  enum class Unit : std::uint8_t { kPercent, kPoints } unit = Unit::kPercent;

  // Returns the change that the rule is about.
  const Change& ChangeOf(const FunctionChange& function) const {
    return of == Of::kSelf ? function.self : function.inclusive;
  }
};

struct Violation {
  const GrowthRule* rule = nullptr;
  const FunctionChange* function = nullptr;
  double error = 0;  // of the growth, at the probability that CheckRules allows

  const Change& change() const { return rule->ChangeOf(*function); }
};

struct RuleResult {
  std::vector<Violation> violations;      // the largest growth is first
  std::vector<const GrowthRule*> unused;  // they match no function
};

// Returns the violations of the rules. A function breaks a rule if it grew by more than the limit,
// and if the probability that chance explains the growth is below 1 percent. That probability is
// for all functions that a rule matches together, so a rule for all functions does not fail more
// often. Functions with too few samples to break the rule do not count. The result has pointers
// into both arguments.
RuleResult CheckRules(const std::vector<GrowthRule>& rules, const EventDifference& difference);

}  // namespace perftape::summarize
