// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/entry_names.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace perftape::dwarf {
namespace {

// Limits the references from entry to entry. Compilers need three, but damaged files contain
// cycles.
constexpr std::size_t kLongestChain = 16;
constexpr std::size_t kMostUnits = 64;  // limit for units kept for later references

}  // namespace

EntryName EntryNames::Read(const Unit& unit, std::uint64_t die) {
  if (units_.size() > kMostUnits) units_.clear();
  Found found;
  std::vector<Reference> chain = {{&unit, die}};
  for (std::size_t i = 0; i < chain.size() && i < kLongestChain; ++i) {
    const Reference entry = chain[i];
    if (entry.unit != nullptr) ReadEntry(entry, found, chain);
  }
  return {.name = found.linkage_name.empty() ? found.name : found.linkage_name, .line = found.line};
}

void EntryNames::ReadEntry(const Reference& entry, Found& found, std::vector<Reference>& next) {
  const Unit& unit = *entry.unit;
  const Bytes shared_strings = shared_.sections == nullptr ? Bytes() : shared_.sections->str;
  if (entry.die < unit.header.first_die || entry.die >= unit.header.end) return;
  Cursor at = unit.InfoAt(entry.die);
  const Abbreviation* shape_of_entry = unit.abbreviations.Find(at.Uleb());
  if (shape_of_entry == nullptr) return;
  for (const AttributeShape& shape : unit.abbreviations.shapes(*shape_of_entry)) {
    const FormValue value = ReadForm(at, shape.form, shape.constant, unit.header.encoding);
    if (!at.ok()) return;
    switch (shape.attribute) {
      case DW_AT_linkage_name:
      case DW_AT_MIPS_linkage_name:
        if (found.linkage_name.empty()) found.linkage_name = TextOf(unit, value, shared_strings);
        break;
      case DW_AT_name:
        if (found.name.empty()) found.name = TextOf(unit, value, shared_strings);
        break;
      case DW_AT_decl_line:
        if (found.line == 0 && value.number <= std::numeric_limits<std::uint32_t>::max()) {
          found.line = static_cast<std::uint32_t>(value.number);
        }
        break;
      case DW_AT_abstract_origin:
      case DW_AT_specification:
        next.push_back(Follow(unit, value));
        break;
      default:
        break;
    }
  }
}

EntryNames::Reference EntryNames::Follow(const Unit& unit, const FormValue& value) {
  if (IsWithinUnit(value.form)) return {&unit, unit.header.offset + value.number};
  switch (value.form) {
    case DW_FORM_ref_addr:
      if (unit.sections == own_.sections) return InUnits(own_, value.number);
      if (unit.sections == shared_.sections) return InUnits(shared_, value.number);
      return {&unit, value.number};  // split DWARF has one unit per file
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
      return InUnits(shared_, value.number);
    default:
      return {nullptr, 0};
  }
}

EntryNames::Reference EntryNames::InUnits(const InfoUnits& units, std::uint64_t die) {
  if (units.sections == nullptr) return {nullptr, 0};
  const auto after = std::ranges::upper_bound(units.headers, die, {}, &UnitHeader::offset);
  if (after == units.headers.begin()) return {nullptr, 0};
  const UnitHeader& header = *std::prev(after);
  auto& unit = units_[{units.sections, header.offset}];
  if (!unit) {
    std::uint64_t work = 0;
    auto read = ReadUnit(*units.sections, header, work);
    if (!read) return {nullptr, 0};
    unit = std::make_unique<const Unit>(*std::move(read));
  }
  return {unit.get(), die};
}

}  // namespace perftape::dwarf
