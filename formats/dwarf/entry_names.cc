// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/entry_names.h"

#include <algorithm>
#include <limits>
#include <ranges>
#include <type_traits>

namespace perftape::dwarf {
namespace {

// Limits the references from entry to entry. Compilers need three, but damaged files contain
// cycles.
constexpr std::size_t kLongestChain = 16;
constexpr std::size_t kMostUnits = 64;  // limit for units kept for later references

// Between the names of a scope and what is in it.
std::string_view ScopeSeparator(std::uint64_t language) {
  switch (language) {
    case 0:  // a partial unit
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_C_plus_plus_17:
    case DW_LANG_C_plus_plus_20:
    case DW_LANG_ObjC_plus_plus:
    case DW_LANG_Rust:
      return "::";
    default:
      return ".";
  }
}

}  // namespace

EntryName EntryNames::Read(const Unit& unit, std::uint64_t die) {
  if (units_.size() > kMostUnits) units_.clear();
  if (scopes_.size() > kMostUnits) scopes_.clear();
  const Found found = ReadChain({&unit, die});
  EntryName result = {.name = std::string(found.linkage_name), .enclosing = {}, .line = found.line};
  if (!result.name.empty() || found.name.empty()) return result;
  ScopeParts scope;
  AppendScope(found.declaration, scope);
  result.enclosing = scope.enclosing;
  const std::string_view separator = ScopeSeparator(unit.language);
  for (const std::string& part : std::views::reverse(scope.names)) {
    result.name.append(part).append(separator);
  }
  result.name += WithDemanglersWords(std::string(found.name));
  return result;
}

EntryNames::Found EntryNames::ReadChain(const Reference& entry) {
  Found found;
  std::vector<Reference> chain = {entry};
  for (std::size_t i = 0; i < chain.size() && i < kLongestChain; ++i) {
    const Reference next = chain[i];
    if (next.unit == nullptr) continue;
    found.declaration = next;
    ReadEntry(next, found, chain);
  }
  return found;
}

void EntryNames::ReadEntry(const Reference& entry, Found& found, std::vector<Reference>& next) {
  const Unit& unit = *entry.unit;
  const Bytes shared_strings = shared_.sections == nullptr ? Bytes() : shared_.sections->str;
  if (entry.die < unit.header.first_die || entry.die >= unit.header.end) return;
  Cursor at = unit.InfoAt(entry.die);
  const Abbreviation* shape_of_entry = unit.abbreviations.Find(at.Uleb());
  if (shape_of_entry == nullptr) return;
  if (found.tag == 0) found.tag = shape_of_entry->tag;
  const auto set = [](auto& field, const FormValue& value) {
    using Field = std::remove_reference_t<decltype(field)>;
    if (field == 0 && value.number <= std::numeric_limits<Field>::max()) {
      field = static_cast<Field>(value.number);
    }
  };
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
      case DW_AT_decl_file:
        set(found.file, value);
        break;
      case DW_AT_decl_line:
        set(found.line, value);
        break;
      case DW_AT_decl_column:
        set(found.column, value);
        break;
      case DW_AT_artificial:
        found.is_artificial |= value.number != 0;
        break;
      case DW_AT_type:
        if (!found.type) found.type = Follow(unit, value);
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
