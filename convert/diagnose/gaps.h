// SPDX-License-Identifier: Apache-2.0
// What a diagnosis could not see, and why.
#pragma once

#include <string>
#include <vector>

#include "convert/diagnose/facts.h"
#include "convert/diagnose/rules.h"

namespace perftape::diagnose {

// Returns a sentence for each.
std::vector<std::string> GapsOf(const Facts& facts, const RuleSet& rules);

}  // namespace perftape::diagnose
