// SPDX-License-Identifier: Apache-2.0
// A unit of .debug_info, usually one compiled source file. Its header and root entry refer to the
// line program, the ranges, and the tables of addresses and strings that its entries index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/dwarf/abbreviations.h"
#include "formats/dwarf/debug_sections.h"

namespace perftape::dwarf {

struct UnitHeader {
  std::uint64_t offset = 0, end = 0;  // in .debug_info
  std::uint64_t first_die = 0;
  std::uint64_t abbreviations = 0;  // offset in .debug_abbrev
  Encoding encoding = {};
  std::uint8_t type = DW_UT_compile;         // always DW_UT_compile before DWARF 5
  std::optional<std::uint64_t> dwo_id = {};  // DWARF 5; in older versions it is in the root entry

  bool is_type_unit() const { return type == DW_UT_type || type == DW_UT_split_type; }
};

// Reads the headers in the order of the section, up to its end or the first damage.
std::vector<UnitHeader> ReadUnitHeaders(Bytes info, std::endian order);

// The addresses from `start` up to, but not including, `end`, as the file's symbols count.
struct Extent {
  std::uint64_t start = 0, end = 0;
};

// Offsets of a unit's contributions to the shared sections. All 0 except in a package (.dwp).
struct UnitBases {
  std::uint64_t abbrev = 0, str_offsets = 0, rnglists = 0;
};

struct Unit {
  UnitHeader header = {};
  const Sections* sections = nullptr;  // of the file that contains the unit
  Abbreviations abbreviations = {};

  // The root entry.
  std::uint16_t tag = 0;
  std::uint64_t language = 0;                  // DW_LANG_*
  std::string_view name = {}, directory = {};  // DW_AT_name, DW_AT_comp_dir
  std::string_view dwo_name = {};              // only of a skeleton
  std::optional<std::uint64_t> dwo_id = {};
  std::optional<std::uint64_t> line_program = {};  // offset in .debug_line
  std::optional<std::uint64_t> low_pc = {};
  FormValue high_pc = {}, ranges = {};

  // The bases to which indexes and offsets in its entries are relative. The addresses of a split
  // unit, and before DWARF 5 its ranges, are in the file that contains its skeleton.
  const Sections* linked_sections = nullptr;
  std::uint64_t address_base = 0, ranges_base = 0, str_offsets_base = 0, rnglists_base = 0;
  // Of a skeleton: the base for the ranges of the split unit. Its own ranges are not relative to it
  // (GNU, DWARF 4).
  std::uint64_t split_ranges_base = 0;

  // A cursor at `offset` of .debug_info that ends where the unit ends. Fails if `offset` is after
  // it.
  Cursor InfoAt(std::uint64_t offset) const;
};

// Reads the abbreviations and the root of the unit with `header`. Adds to `work` the bytes that
// were read outside the unit itself.
Result<Unit> ReadUnit(const Sections& sections, const UnitHeader& header, std::uint64_t& work);
// The same, but with the abbreviation of the root only: its other entries cannot be read.
Result<Unit> ReadUnitRoot(const Sections& sections, const UnitHeader& header, std::uint64_t& work);
// The same as ReadUnit for the split unit of `skeleton`.
Result<Unit> ReadSplitUnit(const Sections& sections, const UnitHeader& header,
                           const UnitBases& bases, const Unit& skeleton, std::uint64_t& work);

// The address or text of a value of one of the unit's entries. Nothing, or empty, if its form does
// not fit or if it points outside its section. `shared_strings` is .debug_str of the supplementary
// file. Texts are views of the sections.
std::optional<std::uint64_t> AddressOf(const Unit& unit, const FormValue& value);
std::string_view TextOf(const Unit& unit, const FormValue& value, Bytes shared_strings = {});

// AppendRanges appends the ranges of a DW_AT_ranges value and returns the number of bytes read.
// AppendRange appends the one of DW_AT_low_pc and DW_AT_high_pc.
std::uint64_t AppendRanges(const Unit& unit, const FormValue& ranges, std::vector<Extent>& out);
void AppendRange(const Unit& unit, const FormValue& low_pc, const FormValue& high_pc,
                 std::vector<Extent>& out);

}  // namespace perftape::dwarf
