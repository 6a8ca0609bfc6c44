// SPDX-License-Identifier: Apache-2.0
// The mapping of frames that have a name but no address, as in folded stacks. It stands for no
// file.
#pragma once

#include <string_view>

#include "convert/model/profile_builder.h"

namespace perftape::convert {

// Adds it: one for functions of programs, one for those of the kernel.
MappingId AddFoldedMapping(ProfileBuilder& builder, MappingType type, const MappingNames& names);

// Whether it is such a mapping. A hidden kernel (hidden_kernel.h) has the same name as that of the
// kernel's functions.
bool IsOfFolded(const Profile& profile, const Mapping& mapping);

// Whether the function of a line has a name. Only a folded file has functions whose name is empty
// on purpose.
bool HasName(const Profile& profile, const Location& location, const Line& line);

}  // namespace perftape::convert
