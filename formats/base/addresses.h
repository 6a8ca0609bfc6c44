// SPDX-License-Identifier: Apache-2.0
// Three address types: the address that the CPU saw, the offset in the mapped file, and the address
// that the symbols of the file use. The compiler rejects mixing them.
#pragma once

#include <compare>
#include <cstdint>

namespace perftape {
inline namespace base {

struct RuntimeAddress {  // An address in a process or in the kernel, as the CPU saw it.
  std::uint64_t value = 0;
  auto operator<=>(const RuntimeAddress&) const = default;
};

struct FileOffset {  // An offset in the mapped file.
  std::uint64_t value = 0;
  auto operator<=>(const FileOffset&) const = default;
};

struct ImageAddress {  // An address as the symbols and program headers of the ELF file count.
  std::uint64_t value = 0;
  auto operator<=>(const ImageAddress&) const = default;
};

// The first address of the kernel's half of a 64-bit address space
// (Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst). 32-bit kernels are
// in the lower half, as programs are. [vsyscall] is in the upper half, but is code of programs.
inline constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;

constexpr bool IsInKernelHalf(std::uint64_t address) {
  return address >= kKernelHalf;
}

}  // namespace base
}  // namespace perftape
