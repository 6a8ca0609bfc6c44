// SPDX-License-Identifier: Apache-2.0
// Which binaries of two sets of profiles are the same program under another name: app-1.0 and
// app-1.1, libfoo.so.1.2.13 and libfoo.so.1.2.14, bench-<hash> of Cargo.
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

// Pairs binaries that are on one side only. Two are a pair if their names differ only in version
// numbers and hashes, or else if at least a third of their functions is in both; those with the
// most in common first.
RenamedBinaries FindRenamedBinaries(const std::set<FunctionKey>& before,
                                    const std::set<FunctionKey>& after);

// Returns the keys that functions of the old side have on the new side. The new name of a binary
// without a partner is its own one. A function that its new binary does not have, and that exactly
// one other binary which is only on the new side has, is that function.
std::map<FunctionKey, FunctionKey> PairFunctions(const std::set<FunctionKey>& before,
                                                 const std::set<FunctionKey>& after,
                                                 const RenamedBinaries& renamed);

// Returns a binary's name without version numbers and hashes: "libfoo.so" of "libfoo.so.1.2.13".
std::string NameWithoutVersion(std::string_view binary);

}  // namespace perftape::summarize
