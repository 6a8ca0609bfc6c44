// SPDX-License-Identifier: Apache-2.0
// Which addresses belong to the kernel.
#pragma once

#include <cstdint>

namespace perftape {
inline namespace base {

// The first address of the kernel's half of a 64-bit address space
// (Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst). 32-bit kernels are
// in the lower half, as programs are. [vsyscall] is in the upper half, but is code of programs.
inline constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;

constexpr bool IsInKernelHalf(std::uint64_t address) {
  return address >= kKernelHalf;
}

}  // namespace base
}  // namespace perftape
