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

}  // namespace base
}  // namespace perftape
