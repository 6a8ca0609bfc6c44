// SPDX-License-Identifier: Apache-2.0
// Finds binaries of two sets of profiles that are the same program under different names: app-1.0
// and app-1.1, libfoo.so.1.2.13 and libfoo.so.1.2.14, bench-<hash> of Cargo.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace perftape::summarize {

using FunctionKey = std::pair<std::string, std::string>;  // name and binary

// Old names of binaries with their new ones.
using RenamedBinaries = std::map<std::string, std::string>;

// Pairs binaries that only one side has. Two are a pair if their names differ only in version
// numbers and hashes, or else if at least a third of their functions are in both. Binaries with
// more functions in common are paired first.
RenamedBinaries FindRenamedBinaries(const std::set<FunctionKey>& before,
                                    const std::set<FunctionKey>& after);

// Returns the keys that functions of the old side have on the new side. A binary without a partner
// keeps its name. If the new binary does not have a function, but exactly one other binary of only
// the new side has it, the function gets the key of that binary.
std::map<FunctionKey, FunctionKey> PairFunctions(const std::set<FunctionKey>& before,
                                                 const std::set<FunctionKey>& after,
                                                 const RenamedBinaries& renamed);

// Returns a binary's name without version numbers and hashes: "libfoo.so" of "libfoo.so.1.2.13".
std::string NameWithoutVersion(std::string_view binary);

}  // namespace perftape::summarize
