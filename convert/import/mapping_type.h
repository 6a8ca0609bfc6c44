// SPDX-License-Identifier: Apache-2.0
// Decides whether a mapping is user or kernel code, if the file contains only its name and address.
#pragma once

#include <cstdint>
#include <string_view>

#include "convert/model/profile.h"

namespace perftape::convert {

// Returns kKernel for names that perf gives to the kernel and its modules
// ("[kernel.kallsyms]_text", "[guest.kernel.kallsyms]", "[nf_tables]", "/lib/.../nf_tables.ko.xz",
// "vmlinux"), and for addresses in the upper half of the address space. Names such as "[vdso]" and
// "[heap]" are never kernel.
MappingType TypeOfMapping(std::string_view filename, std::uint64_t start);

}  // namespace perftape::convert
