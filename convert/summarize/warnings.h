// SPDX-License-Identifier: Apache-2.0
// What the reader of a report should know before arguing from its numbers.
#pragma once

#include <string>
#include <vector>

#include "convert/summarize/contents.h"

namespace perftape::summarize {

// Returns a sentence for each: few samples, no call chains, stacks that are cut, functions without
// names and what would name them, losses above a percent. Which stacks are cut the recordings say
// themselves (ImportReport::noted_chains), or else it is guessed.
std::vector<std::string> WarningsOf(const Contents& contents, const EventContents& event,
                                    const ReadContents& read);

}  // namespace perftape::summarize
