// SPDX-License-Identifier: Apache-2.0
// The rules of --fail-on: how much a function may grow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/summarize/growth_rules.h"
#include "formats/base/result.h"

namespace perftape::report_tool {

// Parses "GLOB self|total +LIMIT%", or "+LIMITpp" for percentage points of the event's total. Fails
// with kInvalidArgument.
Result<summarize::GrowthRule> ParseFailRule(std::string_view text);

// Returns the rules of all arguments. "@FILE" has a rule on each line; empty lines and lines that
// begin with # are skipped. Fails with kInvalidArgument and, for a file, as ReadWholeFile does.
Result<std::vector<summarize::GrowthRule>> ReadFailRules(const std::vector<std::string>& arguments);

// Returns "qsort: self grew by +25.8 % (at least +14.0 %), more than 'qsort self +5%' allows", with
// a ShortName.
std::string ViolationText(const summarize::Violation& violation);

}  // namespace perftape::report_tool
