// SPDX-License-Identifier: Apache-2.0
// The encodings of attribute values (DWARF 5, section 7.5.6): the size of each form, and the number
// or string that a value contains.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/dwarf/constants.h"
#include "formats/dwarf/cursor.h"

namespace perftape::dwarf {

// The fields of a unit's header that determine how its values are encoded.
struct Encoding {
  std::uint16_t version = 0;
  std::uint8_t offset_size = 4;   // 4 in the 32-bit format, 8 in the 64-bit format
  std::uint8_t address_size = 8;  // 4 or 8

  bool operator==(const Encoding&) const = default;
};

// The value of an attribute, before the section that it refers to is read.
struct FormValue {
  std::uint16_t form = 0;  // 0 without the attribute
  // Constants (signed ones in two's complement), offsets, indexes and addresses.
  std::uint64_t number = 0;
  std::string_view text = {};  // for DW_FORM_string

  explicit operator bool() const { return form != 0; }
};

// The size of a form in bytes. Nothing if it depends on the value or the form is unknown.
std::optional<std::uint8_t> FixedSize(std::uint16_t form, Encoding encoding);

// Whether values of `form` refer to an entry of the same unit, by its offset from the unit's start.
constexpr bool IsWithinUnit(std::uint16_t form) {
  return (form >= DW_FORM_ref1 && form <= DW_FORM_ref8) || form == DW_FORM_ref_udata;
}

// Reads a value. Skips blocks, for which the value is empty. Fails for an unknown form, because its
// size is unknown. `constant` is the value of a DW_FORM_implicit_const.
FormValue ReadForm(Cursor& at, std::uint16_t form, std::int64_t constant, Encoding encoding);

}  // namespace perftape::dwarf
