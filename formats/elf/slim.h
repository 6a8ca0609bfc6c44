// SPDX-License-Identifier: Apache-2.0
// Makes a copy of an ELF file that contains the tables for names and unwinding, and little else.
// Code, data and (by default) DWARF are left out. The layout is that of the original, without the
// removed parts:
//
//   kept       file, program and section headers; .symtab, .dynsym and their strings; .eh_frame,
//              .eh_frame_hdr, .debug_frame, .ARM.exidx; notes; .gnu_debugdata, .gnu_debuglink,
//              .gnu_debugaltlink; .gopclntab; .dynamic, .gnu.version*; .plt*, .got*, .opd, and
//              relocations of slots in .got*
//   PT_LOAD    unchanged, so that a file offset still means the same address. Its bytes are gone
//   left out   if in memory: SHT_NOBITS with the old address, offset and size, as objcopy
//              --only-keep-debug does; else SHT_NULL
//
// Sections keep their numbers, which symbols refer to. Adjacent parts, such as .eh_frame and its
// table, stay adjacent, because one refers to the other by distance.
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

// A range of bytes in the file.
struct FileRange {
  FileOffset start;
  std::uint64_t size = 0;
};

struct SlimOptions {
  SlimDwarf dwarf = SlimDwarf::kDrop;
  // Ranges to keep as well: their sections, with zeros around the ranges, and their relocations.
  // Some files have Go's pclntab in .data.rel.ro.
  std::span<const FileRange> also = {};
  std::uint64_t limit = symbol_limits::kSymbolTables;  // maximum size of the copy
};

// Returns the copy, in the file's own class and byte order. It is always smaller than the file.
// Returns nothing if the file must be kept whole: it is relocatable, has no sections, its parts
// overlap, or nothing can be left out. Returns nothing too if the copy would exceed the limit.
std::optional<std::vector<std::byte>> SlimCopy(const ElfFile& file,
                                               const SlimOptions& options = {});

}  // namespace perftape::elf
