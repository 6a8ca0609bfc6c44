// SPDX-License-Identifier: Apache-2.0
// Globs on names of threads, for the BPF programs.
#pragma once

#include <linux/types.h>

#include <span>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"

namespace perftape::record {

// Returns automata that match a name if any of the globs does, as fnmatch(3) without flags: * ?
// [a-z] [!a-z] and \ before a character.
//
// Fails with kInvalidArgument for a glob that matches no name, because it needs more than the 15
// bytes that the kernel keeps, and for more globs than fit into WIRE_GLOB_SETS.
Result<std::vector<wire_globs>> CompileCommGlobs(std::span<const std::string> globs);

}  // namespace perftape::record
