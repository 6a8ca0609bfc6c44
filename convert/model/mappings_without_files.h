// SPDX-License-Identifier: Apache-2.0
// The mappings of frames that have no file: those of a kernel that was hidden from the recorder,
// which have only addresses, and those of folded stacks, which have only names.
#pragma once

#include <cstdint>
#include <string_view>

#include "convert/model/profile_builder.h"
#include "formats/folded/folded.h"

namespace perftape::convert {

// Frames of the kernel at addresses that no mapping of the recording contains. A recorder without
// CAP_SYSLOG cannot find out where the kernel's code is, because /proc/kallsyms and /proc/modules
// contain zeros for it. So the recording has addresses of the kernel, but neither its mapping nor
// its names. This is the name of the mapping for such frames.
inline constexpr std::string_view kHiddenKernelName = folded::kMarkedMappingName;

// Adds that mapping, with all addresses of the address space. The offset of a frame in it is its
// address.
MappingId AddHiddenKernel(ProfileBuilder& builder);

// Whether it is that mapping. Frames of folded stacks also have a mapping with this name, but no
// addresses.
bool IsHiddenKernel(const Profile& profile, const Mapping& mapping);

// Returns why frames of the hidden kernel have no names.
std::string_view WhyHidden(const Profile& profile);

// Adds the mapping of frames of folded stacks: one for functions of programs, one for those of the
// kernel.
MappingId AddFoldedMapping(ProfileBuilder& builder, MappingType type, const MappingNames& names);

// Whether it is one of these two mappings. That of a hidden kernel has the same name as that of the
// kernel's functions.
bool IsOfFolded(const Profile& profile, const Mapping& mapping);
// The same for a text that has names of mappings and addresses: the addresses of a hidden kernel
// are not 0.
bool IsOfFolded(std::string_view mapping_name, std::uint64_t address);
// Whether this is the mapping for functions of programs.
bool IsFoldedProgram(std::string_view mapping_name);

// Whether the function of a line has a name. Only a folded file has functions whose name is empty
// on purpose.
bool HasName(const Profile& profile, const Location& location, const Line& line);

}  // namespace perftape::convert
