// SPDX-License-Identifier: Apache-2.0
// Frames of the kernel at addresses that no mapping of the recording contains. A recorder without
// CAP_SYSLOG does not learn where the kernel's code is: /proc/kallsyms and /proc/modules show it
// zeros. So the recording has addresses of the kernel, but neither its mapping nor its names.
#pragma once

#include <string_view>

#include "convert/model/profile_builder.h"
#include "formats/folded/folded.h"

namespace perftape::convert {

// The name of the mapping of such frames.
inline constexpr std::string_view kHiddenKernelName = folded::kMarkedMappingName;

// Adds that mapping, with all addresses of the address space. The offset of a frame in it is its
// address.
MappingId AddHiddenKernel(ProfileBuilder& builder);

// Whether it is that mapping. Frames of folded stacks have a mapping of this name, too, but no
// addresses.
bool IsHiddenKernel(const Profile& profile, const Mapping& mapping);

// Returns why frames of the hidden kernel have no names.
std::string_view WhyHidden(const Profile& profile);

}  // namespace perftape::convert
