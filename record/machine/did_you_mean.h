// SPDX-License-Identifier: Apache-2.0
// The end of a message about a name that was not found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perftape::record {

// Returns "; did you mean sched or irq?", at most five names; empty if none is similar.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& names);

// Whether the text has a character of a glob: *, ? or [.
bool IsGlob(std::string_view text);

}  // namespace perftape::record
