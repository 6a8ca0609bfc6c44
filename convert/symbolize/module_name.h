// SPDX-License-Identifier: Apache-2.0
// What the names of kernel mappings say.
#pragma once

#include <string>
#include <string_view>

#include "formats/perfdata/kernel_names.h"

namespace perftape::symbolize {

// perf calls the kernel's own mapping so, with the name of the symbol behind it that tells where it
// is: "[kernel.kallsyms]_text" (tools/perf/util/machine.c).
inline constexpr std::string_view kKernelMappingName = "[kernel.kallsyms]";

// "[kernel.kallsyms]_text", or the file that a recording lists in its place: "/boot/vmlinux-6.1".
inline bool IsKernelName(std::string_view filename) {
  return filename.starts_with(kKernelMappingName) || perfdata::IsVmlinuxName(filename);
}

// The kernel of a virtual machine, seen from outside: "[guest.kernel.kallsyms]".
inline bool IsGuestName(std::string_view filename) {
  return filename.starts_with("[guest");
}

// The module that a mapping is of: "nf_tables" of "[nf_tables]" and of ".../nf-tables.ko.xz"; empty
// for the kernel and what is no module.
std::string ModuleNameOf(std::string_view filename);

}  // namespace perftape::symbolize
