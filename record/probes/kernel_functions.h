// SPDX-License-Identifier: Apache-2.0
// The names of the kernel's functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

// Returns the functions of the kernel and its modules that /proc/kallsyms lists, sorted. Their
// addresses may be hidden. Fails with the error of reading it.
Result<std::vector<std::string>> ReadKernelFunctions();

// Returns the functions in the text of /proc/kallsyms, sorted: lines "ADDRESS TYPE NAME [MODULE]"
// of the types t, T, w and W. Ignores other lines, and BPF programs.
std::vector<std::string> DecodeKernelFunctions(std::string_view kallsyms);

}  // namespace perftape::record
