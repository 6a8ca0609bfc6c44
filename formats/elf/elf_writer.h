// SPDX-License-Identifier: Apache-2.0
// Writes ELF files that contain only names for addresses: shared objects with functions of a few
// bytes each. With them, perf and others show the names of a profile that came without its
// binaries. These parts are required (tested with perf 6.1 and hotspot's perfparser 1.3):
//
//   .symtab, .strtab     functions with sizes
//   .text                with bytes in the file: perfparser ignores symbols in SHT_NOBITS
//   PT_LOAD              readable and executable, from address 0 on: libdw assumes that it is the
//                        segment mapped at the base. Here addresses equal file offsets
//   .note.gnu.build-id   identifies the file as the one that was mapped
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"

namespace perftape::elf {

// The layout of the functions in such a file: the first is at kTextOffset, each has kFunctionSize
// bytes.
inline constexpr std::uint64_t kTextOffset = 0x1000;
inline constexpr std::uint64_t kFunctionSize = 16;

// The build id of the file with functions of these names, in this order: a hash of the names and
// the layout.
BuildId NamedFunctionsId(std::span<const std::string_view> names);

// Returns that file, for x86-64. A name ends at its first NUL.
std::vector<std::byte> NamedFunctionsFile(std::span<const std::string_view> names);

}  // namespace perftape::elf
