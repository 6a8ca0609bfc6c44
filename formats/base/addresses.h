// SPDX-License-Identifier: Apache-2.0
// The three kinds of address as three types: the address that the CPU saw, the offset in the file,
// and the address that the symbols of the file use. The compiler rejects mixing them.
#pragma once

#include <compare>
#include <cstdint>

namespace perftape {
inline namespace base {

struct RuntimeAddress {  // In the process, or in the kernel, as the CPU saw it.
  std::uint64_t value = 0;
  auto operator<=>(const RuntimeAddress&) const = default;
};

struct FileOffset {  // In the mapped file.
  std::uint64_t value = 0;
  auto operator<=>(const FileOffset&) const = default;
};

struct ImageAddress {  // As the ELF file's symbols and program headers count.
  std::uint64_t value = 0;
  auto operator<=>(const ImageAddress&) const = default;
};

}  // namespace base
}  // namespace perftape
