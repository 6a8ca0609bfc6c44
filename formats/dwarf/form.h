// SPDX-License-Identifier: Apache-2.0
// The encodings of attribute values (DWARF 5, section 7.5.6): the size of each form, and the number
// or string that it stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/cursor.h"

namespace perftape::dwarf {

// What the header of a unit says of the values in it.
struct Encoding {
  std::uint16_t version = 0;
  std::uint8_t offset_size = 4;   // 4 in the 32-bit format, 8 in the 64-bit one
  std::uint8_t address_size = 8;  // 4 or 8

  bool operator==(const Encoding&) const = default;
};

// An attribute's value, not yet looked up in the section that it may refer to.
struct FormValue {
  std::uint16_t form = 0;      // 0 where there is no such attribute
  std::uint64_t number = 0;    // constants (signed ones as they are), offsets, indexes, addresses
  std::string_view text = {};  // of DW_FORM_string

  explicit operator bool() const { return form != 0; }
};

// Nothing where it depends on the value.
std::optional<std::uint8_t> FixedSize(std::uint16_t form, Encoding encoding);

// Whether it refers to another entry of the unit, by where that is from the unit's start on.
constexpr bool IsWithinUnit(std::uint16_t form) {
  return (form >= DW_FORM_ref1 && form <= DW_FORM_ref8) || form == DW_FORM_ref_udata;
}

// Of blocks there is no value: they are stepped over. Fails at a form that is not known, since its
// size is not. `constant` is that of DW_FORM_implicit_const.
FormValue ReadForm(Cursor& at, std::uint16_t form, std::int64_t constant, Encoding encoding);

}  // namespace perftape::dwarf
