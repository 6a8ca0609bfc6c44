// SPDX-License-Identifier: Apache-2.0
// A unit of .debug_info, which usually is one compiled source file. Its header and root entry point
// to the line program, the ranges, and the addresses and strings that its entries refer to by
// number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/dwarf/abbreviations.h"
#include "formats/dwarf/sections.h"

namespace perftape::dwarf {

struct UnitHeader {
  std::uint64_t offset = 0, end = 0;  // in .debug_info
  std::uint64_t first_die = 0;
  std::uint64_t abbreviations = 0;  // where in .debug_abbrev
  Encoding encoding = {};
  std::uint8_t type = DW_UT_compile;         // DW_UT_compile before DWARF 5, whatever it is
  std::optional<std::uint64_t> dwo_id = {};  // of DWARF 5; before, the root entry has it

  bool is_type_unit() const { return type == DW_UT_type || type == DW_UT_split_type; }
};

// In the order of the section, up to its end or to where it is damaged.
std::vector<UnitHeader> ReadUnitHeaders(Bytes info, std::endian order);

// From `start` up to before `end`, as the file's symbols count.
struct Extent {
  std::uint64_t start = 0, end = 0;
};

// Where in its file a unit's part of the shared sections begins; all 0 but in a package (.dwp).
struct UnitBases {
  std::uint64_t abbrev = 0, str_offsets = 0, rnglists = 0;
};

struct Unit {
  UnitHeader header = {};
  const Sections* sections = nullptr;  // of the file that it is in
  Abbreviations abbreviations = {};

  // The root entry.
  std::uint16_t tag = 0;
  std::uint64_t language = 0;                  // DW_LANG_*
  std::string_view name = {}, directory = {};  // DW_AT_name, DW_AT_comp_dir
  std::string_view dwo_name = {};              // of a skeleton
  std::optional<std::uint64_t> dwo_id = {};
  std::optional<std::uint64_t> line_program = {};  // where in .debug_line
  std::optional<std::uint64_t> low_pc = {};
  FormValue high_pc = {}, ranges = {};

  // What numbers in its entries count from. Addresses and, before DWARF 5, ranges of a split unit
  // are in the file that its skeleton is in.
  const Sections* linked_sections = nullptr;
  std::uint64_t address_base = 0, ranges_base = 0, str_offsets_base = 0, rnglists_base = 0;
  // Of a skeleton, what the ranges of the split unit count from; its own do not (GNU, DWARF 4).
  std::uint64_t split_ranges_base = 0;

  Cursor InfoAt(std::uint64_t offset) const;
};

// The header's unit, its abbreviations and root read. `work` grows by the bytes that were looked at
// outside the unit itself.
Result<Unit> ReadUnit(const Sections& sections, const UnitHeader& header, std::uint64_t& work);
// The same of split DWARF, that `skeleton` stands for.
Result<Unit> ReadSplitUnit(const Sections& sections, const UnitHeader& header,
                           const UnitBases& bases, const Unit& skeleton, std::uint64_t& work);

// What a value of one of the unit's entries stands for; nothing, or nothing in it, where the value
// is no such thing, or points outside its section. `shared_strings` are those of the supplementary
// file.
std::optional<std::uint64_t> AddressOf(const Unit& unit, const FormValue& value);
std::string_view TextOf(const Unit& unit, const FormValue& value, Bytes shared_strings = {});

// Appends what the list of ranges covers, or DW_AT_low_pc and DW_AT_high_pc where they are given.
// Returns how many bytes were read.
std::uint64_t AppendRanges(const Unit& unit, const FormValue& ranges, std::vector<Extent>& out);
void AppendRange(const Unit& unit, const FormValue& low_pc, const FormValue& high_pc,
                 std::vector<Extent>& out);

}  // namespace perftape::dwarf
