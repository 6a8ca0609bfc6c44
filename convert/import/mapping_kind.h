// SPDX-License-Identifier: Apache-2.0
// Whose a mapping is, where a file tells no more than its name and address.
#pragma once

#include <cstdint>
#include <string_view>

#include "convert/model/profile.h"

namespace perftape::convert {

// kKernel for names that perf gives to the kernel and its modules ("[kernel.kallsyms]_text",
// "[guest.kernel.kallsyms]", "[nf_tables]", "/lib/.../nf_tables.ko.xz", "vmlinux"), and for what
// lies in the upper half of the address space; but for no "[vdso]", "[heap]" and such.
MappingKind KindOfMapping(std::string_view filename, std::uint64_t start);

}  // namespace perftape::convert
