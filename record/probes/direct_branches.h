// SPDX-License-Identifier: Apache-2.0
// The direct calls and jumps in the code of a function.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape::record {

// Returns the targets of the calls and jumps in `code`, which is at `address`. On x86_64 these are
// the targets of all bytes that may begin one, because instructions are not decoded: compare them
// with known addresses. Empty for other machines than x86_64 and arm64.
std::vector<std::uint64_t> DirectBranches(Bytes code, std::uint64_t address, std::uint16_t machine);

}  // namespace perftape::record
