// SPDX-License-Identifier: Apache-2.0
// The mapping of frames that have a name but no address, as in folded stacks. It stands for no
// file.
#pragma once

#include <cstdint>
#include <string_view>

#include "convert/model/profile_builder.h"

namespace perftape::convert {

// Adds it: one for functions of programs, one for those of the kernel.
MappingId AddFoldedMapping(ProfileBuilder& builder, MappingType type, const MappingNames& names);

// Whether it is such a mapping. A hidden kernel (hidden_kernel.h) has the same name as that of the
// kernel's functions.
bool IsOfFolded(const Profile& profile, const Mapping& mapping);

// The same for a text that has names of mappings and addresses: a hidden kernel's are not 0.
bool IsOfFolded(std::string_view mapping_name, std::uint64_t address);
// Whether this is the mapping for functions of programs.
bool IsFoldedProgram(std::string_view mapping_name);

// Whether the function of a line has a name. Only a folded file has functions whose name is empty
// on purpose.
bool HasName(const Profile& profile, const Location& location, const Line& line);

}  // namespace perftape::convert
