// SPDX-License-Identifier: Apache-2.0
// A copy of an ELF file that holds what names and unwinding need, and little else: code, data and
// (unless asked for) DWARF are left out. It is laid out as the original with pieces cut away:
//
//   kept       file, program and section headers; .symtab, .dynsym and their strings; .eh_frame,
//              .eh_frame_hdr, .debug_frame, .ARM.exidx; notes; .gnu_debugdata, .gnu_debuglink,
//              .gnu_debugaltlink; .gopclntab; .dynamic, .gnu.version*; .plt*, .got*, .opd, and
//              relocations of what lies in .got*
//   PT_LOAD    as it was, so that a file offset means the address that it meant. Its bytes are gone
//   left out   in memory: SHT_NOBITS with address, offset and size as they were, as objcopy
//              --only-keep-debug does it; else SHT_NULL
//
// Sections keep their numbers, which symbols refer to. Pieces that lie side by side, as .eh_frame
// and its table do, stay so, since the one refers to the other by distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/symbol_limits.h"
#include "formats/elf/elf_file.h"

namespace perftape::elf {

enum class SlimDwarf : std::uint8_t { kDrop, kKeep };

// Bytes of the file.
struct FileRange {
  FileOffset start;
  std::uint64_t size = 0;
};

struct SlimOptions {
  SlimDwarf dwarf = SlimDwarf::kDrop;
  // Also kept: the sections that these lie in, with zeros around them, and relocations of them.
  // Go's pclntab is in .data.rel.ro of some.
  std::span<const FileRange> also = {};
  std::uint64_t limit = symbol_limits::kSymbolTables;  // bytes of the copy
};

// The copy, which is smaller than the file; in the file's own class and byte order. Nothing where
// the file must be kept whole: it is relocatable, has no sections, its parts overlap,
// or nothing can be left out. Nothing either where the copy would be larger than its limit.
std::optional<std::vector<std::byte>> SlimCopy(const ElfFile& file,
                                               const SlimOptions& options = {});

}  // namespace perftape::elf
