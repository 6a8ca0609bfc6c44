// SPDX-License-Identifier: Apache-2.0
// Where a Go binary has its pc-line table, and how that begins. The table is there whatever was
// stripped, as Go's own tracebacks are made from it.
//
// The linker puts it into a section of its own, .gopclntab or .data.rel.ro.gopclntab, but into
// .data.rel.ro or .rodata where another linker made the file. It begins with
//
//   u32 magic; u8 0, 0; u8 pc_quantum (1, 2, 4); u8 word_size (4, 8)
//
// where the magic tells which versions of Go have its layout (src/debug/gosym/pclntab.go).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "formats/base/bytes.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/slim.h"
#include "formats/go/image.h"

namespace perftape::go {

enum class TableVersion : std::uint8_t { kGo12, kGo116, kGo118, kGo120 };

// All offsets are from the table's begin, and none lies behind its end.
struct TableHeader {
  TableVersion version = TableVersion::kGo12;
  std::uint8_t pc_quantum = 1;
  std::uint8_t word_size = 8;        // in bytes
  std::uint64_t functions = 0;       // so many are in the function table, which has room for them
  std::uint64_t text_start = 0;      // since 1.18: where the code lies; 0 where a relocation tells
  std::uint64_t names = 0;           // of functions
  std::uint64_t units = 0;           // since 1.16: a compilation unit's file numbers -> file names
  std::uint64_t files = 0;           // names of files; in 1.2 their offsets
  std::uint64_t values = 0;          // by pc
  std::uint64_t function_table = 0;  // (entry, offset of the function's record)...
  std::uint64_t records = 0;         // what these offsets count from
};

// Of the table that begins at `table`; nothing where none does.
std::optional<TableHeader> ReadTableHeader(Bytes table, std::endian order);

// The bytes from where a Go binary has its table, to the end of its section where that is its own,
// else to the end of the section or segment that it lies in. Nothing where the file is no Go
// binary.
std::optional<ImagePart> FindTable(const Image& image);

}  // namespace perftape::go
