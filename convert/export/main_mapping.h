// SPDX-License-Identifier: Apache-2.0
// Finds the mapping of the main program. pprof regards the first mapping as the main program.
#pragma once

#include <cstdint>
#include <span>

#include "convert/model/profile.h"

namespace perftape::convert {

// Returns the mapping that is the outermost program of most samples. If no sample has one, returns
// the first mapping that can be a program, or no mapping if there is none. `order` has the indexes
// of all mappings; of equal candidates the first one in `order` wins.
MappingId FindMainMapping(const Profile& profile, std::span<const std::uint32_t> order);

}  // namespace perftape::convert
