// SPDX-License-Identifier: Apache-2.0
// The scripts of CompletionScript (help.h), one function for each shell, and what they have in
// common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns the shells that CompletionScript knows.
std::vector<Offer> OfferedShells();

// Returns whether an option takes an event, so that the script must ask for those of the machine.
bool OffersEvents(const Command& command);

std::string BashCompletion(const Command& command);
std::string ZshCompletion(const Command& command);
std::string FishCompletion(const Command& command);

// Returns "perftape_bundle_list" of "perftape-bundle list": the beginning of names of functions.
std::string FunctionName(std::string_view command);

// Returns the words for the choices of an option; empty if it has none, or if the shell asks the
// machine for them.
std::vector<std::string> ChoiceWords(const Option& option);

// Returns a phrase without the choices, which the shell shows itself: "write this format".
std::string ShortHelp(const Option& option);

// The spellings of the options whose argument may be the next word: the script must skip it.
std::vector<std::string> SpellingsWithNextWord(const Command& command);

}  // namespace perftape::cli
