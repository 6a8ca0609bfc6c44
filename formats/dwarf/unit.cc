// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/unit.h"

#include <string>
#include <utility>

namespace perftape::dwarf {
namespace {

// The header is { u32 length, or 0xffffffff and u64 length; u16 version; }. Then DWARF 5 has { u8
// type, address size; offset of the abbreviations; u64 dwo id or type fields of some types }, older
// versions { offset of the abbreviations; u8 address size }.
std::optional<UnitHeader> ReadHeader(Cursor at) {
  UnitHeader header = {.offset = at.offset()};
  const std::uint64_t length = at.InitialLength(header.encoding.offset_size);
  if (!at.ok() || length > at.remaining()) return std::nullopt;
  header.end = at.offset() + length;
  header.encoding.version = at.Fixed<std::uint16_t>();
  if (header.encoding.version >= 5) {
    header.type = at.Fixed<std::uint8_t>();
    header.encoding.address_size = at.Fixed<std::uint8_t>();
    header.abbreviations = at.Unsigned(header.encoding.offset_size);
    if (header.type == DW_UT_skeleton || header.type == DW_UT_split_compile) {
      header.dwo_id = at.Fixed<std::uint64_t>();
    }
    if (header.is_type_unit()) at.Skip(8U + header.encoding.offset_size);
  } else {
    header.abbreviations = at.Unsigned(header.encoding.offset_size);
    header.encoding.address_size = at.Fixed<std::uint8_t>();
  }
  header.first_die = at.offset();
  if (!at.ok() || header.first_die > header.end) return std::nullopt;
  return header;
}

bool IsKnown(const Encoding& encoding) {
  return encoding.version >= 2 && encoding.version <= 5 &&
         (encoding.address_size == 4 || encoding.address_size == 8);
}

// Element `index` of a table of offsets.
std::optional<std::uint64_t> OffsetAt(Bytes section, std::uint64_t base, std::uint64_t index,
                                      unsigned size, std::endian order) {
  if (base > section.size() || index >= (section.size() - base) / size) return std::nullopt;
  return Cursor(section, base + index * size, order).Unsigned(size);
}

// Sets the bases, which other attributes of the root entry depend on.
void SetBase(Unit& unit, std::uint16_t attribute, const FormValue& value) {
  switch (attribute) {
    case DW_AT_str_offsets_base:
      unit.str_offsets_base = value.number;
      break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
      unit.address_base = value.number;
      break;
    case DW_AT_rnglists_base:
      unit.rnglists_base = value.number;
      break;
    case DW_AT_GNU_ranges_base:
      unit.split_ranges_base = value.number;
      break;
    default:
      break;
  }
}

void SetRootAttribute(Unit& unit, std::uint16_t attribute, const FormValue& value) {
  switch (attribute) {
    case DW_AT_name:
      unit.name = TextOf(unit, value);
      break;
    case DW_AT_comp_dir:
      unit.directory = TextOf(unit, value);
      break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
      unit.dwo_name = TextOf(unit, value);
      break;
    case DW_AT_GNU_dwo_id:
      unit.dwo_id = value.number;
      break;
    case DW_AT_language:
      unit.language = value.number;
      break;
    case DW_AT_stmt_list:
      unit.line_program = value.number;
      break;
    case DW_AT_low_pc:
      unit.low_pc = AddressOf(unit, value);
      break;
    case DW_AT_high_pc:
      unit.high_pc = value;
      break;
    case DW_AT_ranges:
      unit.ranges = value;
      break;
    default:
      break;
  }
}

Status ReadRoot(Unit& unit) {
  Cursor at = unit.InfoAt(unit.header.first_die);
  const Abbreviation* root = unit.abbreviations.Find(at.Uleb());
  if (!at.ok() || root == nullptr) {
    return Fail(ErrorCode::kCorrupt,
                ".debug_info: unit at " + std::to_string(unit.header.offset) + " has no root");
  }
  unit.tag = root->tag;
  std::vector<std::pair<std::uint16_t, FormValue>> values;
  for (const AttributeShape& shape : unit.abbreviations.shapes(*root)) {
    values.emplace_back(shape.attribute,
                        ReadForm(at, shape.form, shape.constant, unit.header.encoding));
  }
  for (const auto& [attribute, value] : values) SetBase(unit, attribute, value);
  for (const auto& [attribute, value] : values) SetRootAttribute(unit, attribute, value);
  if (at.ok()) return {};
  return Fail(ErrorCode::kTruncated,
              ".debug_info: unit at " + std::to_string(unit.header.offset) + " ends in its root");
}

Status ReadAbbreviations(Unit& unit, std::uint64_t base, std::uint64_t& work,
                         std::uint64_t last = Abbreviations::kAll) {
  const Sections& sections = *unit.sections;
  const std::uint64_t offset = unit.header.abbreviations;
  if (!IsKnown(unit.header.encoding)) {
    return Fail(ErrorCode::kUnsupported,
                ".debug_info: unit at " + std::to_string(unit.header.offset) + " is of version " +
                    std::to_string(unit.header.encoding.version));
  }
  if (base > sections.abbrev.size() || offset > sections.abbrev.size() - base) {
    return Fail(ErrorCode::kCorrupt, ".debug_info: unit at " + std::to_string(unit.header.offset) +
                                         " has its abbreviations outside .debug_abbrev");
  }
  std::uint64_t size = 0;
  auto table = Abbreviations::Read(Cursor(sections.abbrev, base + offset, sections.order),
                                   unit.header.encoding, size, last);
  work += size;
  if (!table) return std::unexpected(std::move(table).error());
  unit.abbreviations = *std::move(table);
  return {};
}

// A list of { u64 or u32 start, end }, relative to a base. An entry with the highest start sets a
// new base; a pair of zeros ends the list (DWARF 4, section 2.17.3).
std::uint64_t AppendOldRanges(const Unit& unit, std::uint64_t offset, std::vector<Extent>& out) {
  const unsigned size = unit.header.encoding.address_size;
  const std::uint64_t highest = size == 8 ? ~std::uint64_t{0} : 0xffffffffU;
  std::uint64_t base = unit.low_pc.value_or(0);
  Cursor at(unit.linked_sections->ranges, offset, unit.sections->order);
  const std::uint64_t first = at.offset();
  while (true) {
    const std::uint64_t start = at.Unsigned(size), end = at.Unsigned(size);
    if (!at.ok() || (start == 0 && end == 0)) break;
    if (start == highest) {
      base = end;
    } else if (start < end) {
      out.push_back({base + start, base + end});
    }
  }
  return at.offset() - first;
}

// The range lists of DWARF 5, section 2.17.3.
std::uint64_t AppendNewRanges(const Unit& unit, std::uint64_t offset, std::vector<Extent>& out) {
  const unsigned size = unit.header.encoding.address_size;
  const auto indexed = [&](std::uint64_t index) {
    return OffsetAt(unit.linked_sections->addr, unit.address_base, index, size,
                    unit.sections->order)
        .value_or(0);
  };
  std::uint64_t base = unit.low_pc.value_or(0);
  Cursor at(unit.sections->rnglists, offset, unit.sections->order);
  const std::uint64_t first = at.offset();
  while (true) {
    Extent extent;
    switch (at.Fixed<std::uint8_t>()) {
      case DW_RLE_base_addressx:
        base = indexed(at.Uleb());
        continue;
      case DW_RLE_base_address:
        base = at.Unsigned(size);
        continue;
      case DW_RLE_startx_endx:
        extent.start = indexed(at.Uleb());
        extent.end = indexed(at.Uleb());
        break;
      case DW_RLE_startx_length:
        extent.start = indexed(at.Uleb());
        extent.end = extent.start + at.Uleb();
        break;
      case DW_RLE_offset_pair:
        extent.start = base + at.Uleb();
        extent.end = base + at.Uleb();
        break;
      case DW_RLE_start_end:
        extent.start = at.Unsigned(size);
        extent.end = at.Unsigned(size);
        break;
      case DW_RLE_start_length:
        extent.start = at.Unsigned(size);
        extent.end = extent.start + at.Uleb();
        break;
      default:  // DW_RLE_end_of_list, or unknown
        return at.offset() - first;
    }
    if (!at.ok()) return at.offset() - first;
    if (extent.start < extent.end) out.push_back(extent);
  }
}

}  // namespace

Cursor Unit::InfoAt(std::uint64_t offset) const {
  Cursor at(sections->info, offset, sections->order);
  if (offset > header.end) at.Break();
  at.EndAfter(offset > header.end ? 0 : header.end - offset);
  return at;
}

std::vector<UnitHeader> ReadUnitHeaders(Bytes info, std::endian order) {
  std::vector<UnitHeader> headers;
  for (std::uint64_t offset = 0; offset < info.size();) {
    const auto header = ReadHeader(Cursor(info, offset, order));
    if (!header) break;
    offset = header->end;
    headers.push_back(*header);
  }
  return headers;
}

Result<Unit> ReadUnit(const Sections& sections, const UnitHeader& header, std::uint64_t& work) {
  Unit unit = {.header = header, .sections = &sections, .dwo_id = header.dwo_id};
  unit.linked_sections = &sections;
  TRY(ReadAbbreviations(unit, 0, work));
  TRY(ReadRoot(unit));
  return unit;
}

Result<Unit> ReadUnitRoot(const Sections& sections, const UnitHeader& header, std::uint64_t& work) {
  Unit unit = {.header = header, .sections = &sections, .dwo_id = header.dwo_id};
  unit.linked_sections = &sections;
  TRY(ReadAbbreviations(unit, 0, work, unit.InfoAt(header.first_die).Uleb()));
  TRY(ReadRoot(unit));
  return unit;
}

Result<Unit> ReadSplitUnit(const Sections& sections, const UnitHeader& header,
                           const UnitBases& bases, const Unit& skeleton, std::uint64_t& work) {
  Unit unit = {.header = header, .sections = &sections, .dwo_id = header.dwo_id};
  unit.linked_sections = skeleton.linked_sections;
  unit.address_base = skeleton.address_base;
  unit.ranges_base = skeleton.split_ranges_base;
  unit.str_offsets_base = bases.str_offsets;
  unit.rnglists_base = bases.rnglists;
  if (header.encoding.version >= 5) {
    // The tables have a header: { length; u16 version; u8 sizes[2]; u32 count }. .debug_str_offsets
    // has no count.
    const unsigned length_size = header.encoding.offset_size == 8 ? 12 : 4;
    unit.str_offsets_base += length_size + 4;
    unit.rnglists_base += length_size + 8;
  }
  TRY(ReadAbbreviations(unit, bases.abbrev, work));
  TRY(ReadRoot(unit));
  unit.low_pc = skeleton.low_pc;
  unit.directory = skeleton.directory;
  unit.line_program = skeleton.line_program;
  return unit;
}

std::optional<std::uint64_t> AddressOf(const Unit& unit, const FormValue& value) {
  switch (value.form) {
    case DW_FORM_addr:
      return value.number;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
      return OffsetAt(unit.linked_sections->addr, unit.address_base, value.number,
                      unit.header.encoding.address_size, unit.sections->order);
    default:
      return std::nullopt;
  }
}

std::string_view TextOf(const Unit& unit, const FormValue& value, Bytes shared_strings) {
  const Sections& sections = *unit.sections;
  switch (value.form) {
    case DW_FORM_string:
      return value.text;
    case DW_FORM_strp:
      return StringAt(sections.str, value.number);
    case DW_FORM_line_strp:
      return StringAt(sections.line_str, value.number);
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return StringAt(shared_strings, value.number);
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index: {
      const auto offset = OffsetAt(sections.str_offsets, unit.str_offsets_base, value.number,
                                   unit.header.encoding.offset_size, sections.order);
      return offset ? StringAt(sections.str, *offset) : std::string_view();
    }
    default:
      return {};
  }
}

std::uint64_t AppendRanges(const Unit& unit, const FormValue& ranges, std::vector<Extent>& out) {
  if (unit.header.encoding.version < 5) {
    return AppendOldRanges(unit, unit.ranges_base + ranges.number, out);
  }
  if (ranges.form != DW_FORM_rnglistx) return AppendNewRanges(unit, ranges.number, out);
  const auto offset = OffsetAt(unit.sections->rnglists, unit.rnglists_base, ranges.number,
                               unit.header.encoding.offset_size, unit.sections->order);
  return offset ? AppendNewRanges(unit, unit.rnglists_base + *offset, out) : 0;
}

void AppendRange(const Unit& unit, const FormValue& low_pc, const FormValue& high_pc,
                 std::vector<Extent>& out) {
  const auto start = AddressOf(unit, low_pc);
  if (!start || !high_pc) return;
  // Since DWARF 4, high_pc is a length unless its form is an address.
  const std::uint64_t end = AddressOf(unit, high_pc).value_or(*start + high_pc.number);
  if (*start < end) out.push_back({*start, end});
}

}  // namespace perftape::dwarf
