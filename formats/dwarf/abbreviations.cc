// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/abbreviations.h"

#include <algorithm>
#include <string>

namespace perftape::dwarf {

namespace {

// Compilers write at most about thirty. Each attribute costs time in every entry, even if it needs
// no bytes there.
constexpr std::uint32_t kMostAttributes = 256;

Slot SlotOf(std::uint16_t attribute, std::uint16_t tag) {
  switch (attribute) {
    case DW_AT_low_pc:
      return Slot::kLowPc;
    case DW_AT_high_pc:
      return Slot::kHighPc;
    case DW_AT_ranges:
      return Slot::kRanges;
    case DW_AT_call_file:
      return Slot::kCallFile;
    case DW_AT_call_line:
      return Slot::kCallLine;
    case DW_AT_call_column:
      return Slot::kCallColumn;
    case DW_AT_abstract_origin:
      return tag == DW_TAG_inlined_subroutine ? Slot::kOrigin : Slot::kNone;
    default:
      return Slot::kNone;
  }
}

}  // namespace

FormSizes::FormSizes(Encoding encoding) : encoding_(encoding) {
  for (std::uint16_t form = 0; form < sizes_.size(); ++form) {
    sizes_[form] = FixedSize(form, encoding).value_or(PlanStep::kVariable);
  }
}

Result<Abbreviations> Abbreviations::Read(Cursor at, Encoding encoding, std::uint64_t& size,
                                          std::uint64_t last) {
  Abbreviations table;
  const FormSizes sizes(encoding);
  const std::uint64_t start = at.offset();
  while (true) {
    Abbreviation entry;
    entry.code = at.Uleb();
    if (entry.code == 0) break;
    entry.tag = static_cast<std::uint16_t>(at.Uleb());
    entry.has_children = at.Fixed<std::uint8_t>() != 0;
    TRY(table.ReadShapes(at, entry));
    table.Plan(entry, sizes);
    table.entries_.push_back(entry);
    if (entry.code == last) break;
  }
  size = at.offset() - start;
  if (!at.ok()) return Fail(ErrorCode::kTruncated, ".debug_abbrev ends inside a table");
  if (!std::ranges::is_sorted(table.entries_, {}, &Abbreviation::code)) {
    std::ranges::stable_sort(table.entries_, {}, &Abbreviation::code);
  }
  return table;
}

Status Abbreviations::ReadShapes(Cursor& at, Abbreviation& entry) {
  entry.first_shape = static_cast<std::uint32_t>(shapes_.size());
  while (true) {
    AttributeShape shape;
    shape.attribute = static_cast<std::uint16_t>(at.Uleb());
    shape.form = static_cast<std::uint16_t>(at.Uleb());
    if (shape.form == DW_FORM_implicit_const) shape.constant = at.Sleb();
    if (shape.attribute == 0 && shape.form == 0) return {};
    shapes_.push_back(shape);
    if (++entry.shape_count > kMostAttributes) {
      return Fail(ErrorCode::kCorrupt,
                  ".debug_abbrev: too many attributes in an entry before offset " +
                      std::to_string(at.offset()));
    }
  }
}

void Abbreviations::Plan(Abbreviation& entry, const FormSizes& sizes) {
  entry.first_step = static_cast<std::uint32_t>(steps_.size());
  std::uint32_t skip = 0;
  for (const AttributeShape& shape : shapes(entry)) {
    Slot slot = entry.is_scope() ? SlotOf(shape.attribute, entry.tag) : Slot::kNone;
    if (entry.is_type() && shape.attribute == DW_AT_sibling) slot = Slot::kSibling;
    const std::uint8_t size = sizes[shape.form];
    if (slot == Slot::kNone && size != PlanStep::kVariable) {
      skip += size;
      continue;
    }
    steps_.push_back(
        {.skip = skip, .form = shape.form, .slot = slot, .size = size, .constant = shape.constant});
    skip = 0;
  }
  if (steps_.size() == entry.first_step) entry.size = skip;
  if (skip != 0) steps_.push_back({.skip = skip});
  entry.step_count = static_cast<std::uint32_t>(steps_.size()) - entry.first_step;
}

const Abbreviation* Abbreviations::FindAmongUnordered(std::uint64_t code) const {
  const auto found = std::ranges::lower_bound(entries_, code, {}, &Abbreviation::code);
  return found != entries_.end() && found->code == code ? &*found : nullptr;
}

std::optional<std::uint8_t> FixedSize(std::uint16_t form, Encoding encoding) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return encoding.address_size;
    case DW_FORM_ref_addr:  // an address until DWARF 3 made it an offset
      return encoding.version <= 2 ? encoding.address_size : encoding.offset_size;
    case DW_FORM_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return encoding.offset_size;
    default:
      return std::nullopt;
  }
}

FormValue ReadForm(Cursor& at, std::uint16_t form, std::int64_t constant, Encoding encoding) {
  if (form == DW_FORM_indirect) {
    form = static_cast<std::uint16_t>(at.Uleb());
    if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) at.Break();
  }
  FormValue value = {.form = form};
  switch (form) {
    case DW_FORM_flag_present:
      value.number = 1;
      return value;
    case DW_FORM_implicit_const:
      value.number = static_cast<std::uint64_t>(constant);
      return value;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      value.number = at.Uleb();
      return value;
    case DW_FORM_sdata:
      value.number = static_cast<std::uint64_t>(at.Sleb());
      return value;
    case DW_FORM_string:
      value.text = at.String();
      return value;
    case DW_FORM_data16:
      at.Skip(16);
      return value;
    case DW_FORM_block1:
      at.Skip(at.Fixed<std::uint8_t>());
      return value;
    case DW_FORM_block2:
      at.Skip(at.Fixed<std::uint16_t>());
      return value;
    case DW_FORM_block4:
      at.Skip(at.Fixed<std::uint32_t>());
      return value;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      at.Skip(at.Uleb());
      return value;
    default:
      break;
  }
  if (const auto size = FixedSize(form, encoding)) {
    value.number = at.Unsigned(*size);
  } else {
    at.Break();
  }
  return value;
}

}  // namespace perftape::dwarf
