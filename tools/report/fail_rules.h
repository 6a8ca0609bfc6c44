// SPDX-License-Identifier: Apache-2.0
// The rules of --fail-on: how much a function may grow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convert/filter/name_patterns.h"
#include "convert/summarize/difference.h"
#include "formats/base/result.h"

namespace perftape::report_tool {

struct FailRule {
  std::string text;  // as it was given
  convert::Globs functions;
  enum class Of : std::uint8_t { kSelf, kTotal } of = Of::kSelf;
  double limit = 0;
  enum class Unit : std::uint8_t { kPercent, kPoints } unit = Unit::kPercent;
};

// Parses "GLOB self|total +LIMIT%", or "+LIMITpp" for percentage points of the event's total. Fails
// with kInvalidArgument.
Result<FailRule> ParseFailRule(std::string_view text);

// Returns the rules of all arguments. "@FILE" has a rule on each line; empty lines and lines that
// begin with # are skipped. Fails with kInvalidArgument and, for a file, as ReadWholeFile does.
Result<std::vector<FailRule>> ReadFailRules(const std::vector<std::string>& arguments);

struct Violation {
  const FailRule* rule = nullptr;
  const summarize::FunctionChange* function = nullptr;
  std::string
      text;  // with a ShortName: "qsort: self 12.00 % -> 15.10 %, +25.8 % (at least +14.0 %): ..."
};

struct RuleResult {
  std::vector<Violation> violations;    // the largest growth is first
  std::vector<const FailRule*> unused;  // they match no function
};

// Returns what breaks the rules. A function does if it grew by more than the limit, and if chance
// explains the growth with a probability below 1 percent. That probability is for all functions
// that a rule matches together, so a rule for all functions does not fail more often. Functions
// with too few samples to break the rule do not count. The result has pointers into both arguments.
RuleResult CheckRules(const std::vector<FailRule>& rules,
                      const summarize::EventDifference& difference);

}  // namespace perftape::report_tool
