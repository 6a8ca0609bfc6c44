// SPDX-License-Identifier: Apache-2.0
// Which of a profile's mappings is the main program. pprof takes the first one for it.
#pragma once

#include <cstdint>
#include <span>

#include "convert/model/profile.h"

namespace perftape::convert {

// The program that most samples have as their outermost one; where none has any, the first that may
// be one. Of equals, that which comes first in `order`, which holds the index of each mapping. No
// mapping where none may be a program.
MappingId FindMainMapping(const Profile& profile, std::span<const std::uint32_t> order);

}  // namespace perftape::convert
