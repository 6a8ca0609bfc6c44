// SPDX-License-Identifier: Apache-2.0
// The abbreviation tables of .debug_abbrev, which describe the attributes of debugging information
// entries (DIEs). For each abbreviation, a plan describes how to skip an entry, or how to read from
// it the few values that an index needs. Most of the time is spent in entries that are not needed.
// The attributes' values are encoded by form (DWARF 5, section 7.5.6).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
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

// The attributes that are read in the walk over all entries of a unit.
enum class Slot : std::uint8_t {
  kNone,
  kLowPc,
  kHighPc,
  kRanges,
  kCallFile,
  kCallLine,
  kCallColumn,
  kOrigin,   // only of inlined functions
  kSibling,  // only of types
  kCount,
};

struct AttributeShape {
  std::uint16_t attribute = 0;
  std::uint16_t form = 0;
  std::int64_t constant = 0;  // for DW_FORM_implicit_const
};

// Skips `skip` bytes. Then reads a value of `form` (0: none) for `slot`, or skips it if `slot` is
// kNone.
struct PlanStep {
  static constexpr std::uint8_t kVariable = 0xff;

  std::uint32_t skip = 0;
  std::uint16_t form = 0;
  Slot slot = Slot::kNone;
  std::uint8_t size = kVariable;  // of the value, in bytes
  std::int64_t constant = 0;
};

struct Abbreviation {
  std::uint64_t code = 0;
  std::uint16_t tag = 0;
  bool has_children = false;
  std::uint32_t first_shape = 0, shape_count = 0;
  std::uint32_t first_step = 0, step_count = 0;
  // The size of all values together, if it is constant and no value is needed. Most entries have
  // it.
  std::optional<std::uint32_t> size = {};

  // Whether the entry may have members.
  bool is_type() const {
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_enumeration_type;
  }
  // A function or an inlined function. Only these have values for slots, except kSibling.
  bool is_scope() const { return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine; }
};

// The size of each form in bytes, or PlanStep::kVariable if it depends on the value.
class FormSizes {
 public:
  explicit FormSizes(Encoding encoding);
  std::uint8_t operator[](std::uint16_t form) const {
    if (form < sizes_.size()) return sizes_[form];
    return FixedSize(form, encoding_).value_or(PlanStep::kVariable);
  }

 private:
  Encoding encoding_;
  std::array<std::uint8_t, 0x30> sizes_;
};

class Abbreviations {
 public:
  // Reads the table that begins at `at`. Sets `size` to the number of bytes read. Returns
  // kTruncated if the section ends inside the table, and kCorrupt for more than 256 attributes in
  // an entry. Stops after the entry with the code `last`, if there is one.
  static constexpr std::uint64_t kAll = 0;
  static Result<Abbreviations> Read(Cursor at, Encoding encoding, std::uint64_t& size,
                                    std::uint64_t last = kAll);

  // Null if the table has no such code. Valid as long as the table.
  const Abbreviation* Find(std::uint64_t code) const {
    // The fast path: compilers number abbreviations from 1.
    if (code - 1 < entries_.size() && entries_[code - 1].code == code) return &entries_[code - 1];
    return FindAmongUnordered(code);
  }

  std::span<const AttributeShape> shapes(const Abbreviation& entry) const {
    return std::span(shapes_).subspan(entry.first_shape, entry.shape_count);
  }
  std::span<const PlanStep> plan(const Abbreviation& entry) const {
    return std::span(steps_).subspan(entry.first_step, entry.step_count);
  }

 private:
  const Abbreviation* FindAmongUnordered(std::uint64_t code) const;
  Status ReadShapes(Cursor& at, Abbreviation& entry);
  void Plan(Abbreviation& entry, const FormSizes& sizes);

  std::vector<Abbreviation> entries_;  // sorted by code
  std::vector<AttributeShape> shapes_;
  std::vector<PlanStep> steps_;
};

}  // namespace perftape::dwarf
