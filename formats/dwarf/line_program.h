// SPDX-License-Identifier: Apache-2.0
// The line program of a unit (.debug_line; DWARF 5, section 6.2): its header with the source files,
// and the rows that it expands to, from addresses to lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/dwarf/unit.h"

namespace perftape::dwarf {

struct SourceFile {
  std::string_view name;
  std::uint64_t directory = 0;  // by number, as the version counts them
};

struct LineHeader {
  std::uint16_t version = 0;
  std::uint8_t offset_size = 4, address_size = 8;
  std::uint8_t minimum_instruction_size = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::vector<std::uint8_t> operand_counts;  // of the opcodes 1 to opcode_base - 1
  std::vector<std::string_view> directories;
  std::vector<SourceFile> files;
  std::uint64_t program = 0, end = 0;  // in .debug_line

  // kCorrupt or kUnsupported with the offset, where the program cannot be read. Names are views of
  // the unit's sections.
  static Result<LineHeader> Read(const Unit& unit);

  // The path of the `number`-th file as the compiler was told it, absolute wherever it is known
  // what it is relative to; nothing more is normalized. Empty where there is no such file.
  std::string Path(std::uint64_t number, std::string_view unit_directory) const;
};

// The instructions from `offset` on, counted from the start of the sequence, came from there, up to
// the next row.
struct LineRow {
  std::uint32_t offset = 0;
  std::uint32_t line = 0;  // 0 where they are of no line
  std::uint32_t file = 0;  // by number, as the version counts them
  std::uint16_t column = 0;
  std::uint16_t reserved = 0;  // indexes are written out as they are

  bool IsSamePosition(const LineRow& other) const {
    return line == other.line && file == other.file && column == other.column;
  }
};

// Adjoining instructions: rows in the order of their offsets, one for each, no two neighbours
// alike.
struct LineSequence {
  std::uint64_t start = 0, end = 0;  // addresses
  std::uint32_t first_row = 0, row_count = 0;
};

struct LineTable {
  std::vector<LineSequence> sequences;  // by end; those in which the program has them where equal
  std::vector<LineRow> rows;
};

// Runs the program up to its end, or to where it is damaged. Sequences that do not begin within
// `code`, sorted, are left out: linkers leave those of functions that they dropped at address 0, -1
// or -2. What is in `space` is of no matter: its memory is used again.
LineTable RunLineProgram(const LineHeader& header, const Sections& sections,
                         std::span<const Extent> code, LineTable space = {});

// Whether `address` lies in one of `sorted`, which do not overlap.
bool Contains(std::span<const Extent> sorted, std::uint64_t address);

}  // namespace perftape::dwarf
