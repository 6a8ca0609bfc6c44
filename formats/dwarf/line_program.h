// SPDX-License-Identifier: Apache-2.0
// The line program of a unit (.debug_line; DWARF 5, section 6.2): its header with the source files,
// and the rows to which it expands, which map addresses to lines.
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
  std::uint64_t directory = 0;  // index in the numbering of the version
};

struct LineHeader {
  std::uint16_t version = 0;
  std::uint8_t offset_size = 4, address_size = 8;
  std::uint8_t minimum_instruction_size = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::vector<std::uint8_t> operand_counts;  // for the opcodes 1 to opcode_base - 1
  std::vector<std::string_view> directories;
  std::vector<SourceFile> files;
  std::uint64_t program = 0, end = 0;  // offsets in .debug_line

  // Returns kTruncated or kUnsupported with the offset if the header cannot be read. The names are
  // views of the unit's sections.
  static Result<LineHeader> Read(const Unit& unit);

  // The path of file `number`, as the compiler was called with it. Absolute if its directory is
  // known. Not normalized otherwise. Empty if there is no such file.
  std::string Path(std::uint64_t number, std::string_view unit_directory) const;
};

// The source position of the instructions from `offset` up to the next row. The offset counts from
// the start of the sequence.
struct LineRow {
  std::uint32_t offset = 0;
  std::uint32_t line = 0;  // 0 if the instructions belong to no line
  std::uint32_t file = 0;  // index in the numbering of the version
  std::uint16_t column = 0;
  std::uint16_t reserved = 0;  // indexes are written to files as they are in memory

  bool IsSamePosition(const LineRow& other) const {
    return line == other.line && file == other.file && column == other.column;
  }
};

// Contiguous instructions. Its rows are sorted by offset. Offsets are unique, and two neighbours
// differ in their source position.
struct LineSequence {
  std::uint64_t start = 0, end = 0;  // addresses
  std::uint32_t first_row = 0, row_count = 0;
};

struct LineTable {
  std::vector<LineSequence> sequences;  // sorted by end; equal ends in program order
  std::vector<LineRow> rows;
};

// Runs the program to its end or to the first damage. Ignores sequences that do not begin within
// `code`, which is sorted: for functions that they dropped, linkers leave sequences at address 0,
// -1 or -2. Reuses the memory of `space`; its content is ignored.
LineTable RunLineProgram(const LineHeader& header, const Sections& sections,
                         std::span<const Extent> code, LineTable space = {});

// Whether `address` is within one of `sorted`, which must not overlap.
bool Contains(std::span<const Extent> sorted, std::uint64_t address);

}  // namespace perftape::dwarf
