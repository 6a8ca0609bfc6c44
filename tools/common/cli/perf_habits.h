// SPDX-License-Identifier: Apache-2.0
// What perf's parser of options accepts besides the names of options (tools/lib/subcmd of the
// kernel's sources, parse-options.c): "--no-NAME" takes an option back that was given before it,
// "--NAME" one that is called "no-NAME", and the beginning of a long name is enough if no other
// name begins so. Only the options that perf has (Option::verdict) are accepted in this way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns the word with the whole name of its option: "--no-inherit" for "--no-inh". Words that are
// no beginning of a name are returned unchanged. Fails with kInvalidArgument for the beginning of
// several names.
Result<std::string> WithWholeName(const Command& command, std::string_view word);

// Returns the names, without dashes, that take an option back. Empty for Habits::kOwn.
std::vector<std::string> NamesThatTakeBack(const Command& command);

// Returns the row of the option that a name of NamesThatTakeBack takes back; null for another name.
const Option* FindTakenBack(const Command& command, std::string_view name);

}  // namespace perftape::cli
