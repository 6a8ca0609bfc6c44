// SPDX-License-Identifier: Apache-2.0
// ELF files that exist to name addresses: shared objects of functions that are a few bytes each, so
// that perf and others show names of a profile which came without its binaries. What they ask of a
// file, tried with perf 6.1 and hotspot's perfparser 1.3:
//
//   .symtab, .strtab     functions with sizes
//   .text                with bytes in the file: perfparser gives no names of SHT_NOBITS
//   PT_LOAD              readable and executable, from address 0 on, which libdw takes for the one
//                        that is mapped at the base; here addresses are offsets in the file
//   .note.gnu.build-id   without which the file is not known to be the one that was mapped
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"

namespace perftape::elf {

// Where functions are in such a file: the first at kTextOffset, kFunctionSize bytes each.
inline constexpr std::uint64_t kTextOffset = 0x1000;
inline constexpr std::uint64_t kFunctionSize = 16;

// The build id of the file with functions of these names, in this order: a hash of all that is in
// it.
BuildId NamedFunctionsId(std::span<const std::string_view> names);

// That file, for x86-64. A name ends at its first NUL.
std::vector<std::byte> NamedFunctionsFile(std::span<const std::string_view> names);

}  // namespace perftape::elf
