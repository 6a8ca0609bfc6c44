// SPDX-License-Identifier: Apache-2.0
// Finds the pc-line table of a Go binary and reads its header. A stripped binary still has the
// table, because Go's own tracebacks need it.
//
// The linker writes it into its own section, .gopclntab or .data.rel.ro.gopclntab. Other linkers
// move it into .data.rel.ro or .rodata. It begins with
//
//   u32 magic; u8 0, 0; u8 pc_quantum (1, 2, 4); u8 word_size (4, 8)
//
// The magic identifies the versions of Go with this layout (src/debug/gosym/pclntab.go).
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

// All offsets count from the start of the table, and none exceeds its size.
struct TableHeader {
  TableVersion version = TableVersion::kGo12;
  std::uint8_t pc_quantum = 1;
  std::uint8_t word_size = 8;    // in bytes
  std::uint64_t functions = 0;   // number of entries in the function table, which has room for them
  std::uint64_t text_start = 0;  // since Go 1.18: address of the code; 0 if a relocation sets it
  std::uint64_t names = 0;       // names of functions
  std::uint64_t units = 0;       // since Go 1.16: from a unit's file numbers to file names
  std::uint64_t files = 0;       // names of files; in Go 1.2 their offsets
  std::uint64_t values = 0;      // values by pc
  std::uint64_t function_table = 0;  // (entry, offset of the function's record)...
  std::uint64_t records = 0;         // the base of these offsets
};

// Reads the header of a table that begins at `table`. Returns nothing if it is invalid.
std::optional<TableHeader> ReadTableHeader(Bytes table, std::endian order);

// Returns the bytes from the start of the table to the end of its section or segment. Returns
// nothing if the file is not a Go binary.
std::optional<ImagePart> FindTable(const Image& image);

// Whether the file has code of Go: the sections that its linker writes, or the table.
bool IsGoBinary(const elf::ElfFile& file);

}  // namespace perftape::go
