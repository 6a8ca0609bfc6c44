// SPDX-License-Identifier: Apache-2.0
// The shapes of debugging information entries (DIEs), which .debug_abbrev lists for each unit. From
// each a plan is made for how to step over such an entry, or to take out of it the few values that
// an index needs, since nearly all of the time goes into entries that are of no interest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/result.h"
#include "formats/dwarf/form.h"

namespace perftape::dwarf {

// Attributes that are taken out in the walk over all entries of a unit.
enum class Slot : std::uint8_t {
  kNone,
  kLowPc,
  kHighPc,
  kRanges,
  kCallFile,
  kCallLine,
  kCallColumn,
  kOrigin,   // of what was inlined only
  kSibling,  // of types only
  kCount,
};

struct AttributeShape {
  std::uint16_t attribute = 0;
  std::uint16_t form = 0;
  std::int64_t constant = 0;  // of DW_FORM_implicit_const
};

// Steps over `skip` bytes, then reads a value of `form` (0: none) for `slot`, or steps over it.
struct PlanStep {
  static constexpr std::uint8_t kVariable = 0xff;

  std::uint32_t skip = 0;
  std::uint16_t form = 0;
  Slot slot = Slot::kNone;
  std::uint8_t size = kVariable;  // of the value
  std::int64_t constant = 0;
};

struct Abbreviation {
  std::uint64_t code = 0;
  std::uint16_t tag = 0;
  bool has_children = false;
  std::uint32_t first_shape = 0, shape_count = 0;
  std::uint32_t first_step = 0, step_count = 0;
  // Of most, all values together are always as long, and none of them is of interest: this long.
  std::optional<std::uint32_t> size = {};

  // What members may be in.
  bool is_type() const {
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_enumeration_type;
  }
  // A function, or one that was inlined: they have values for slots.
  bool is_scope() const { return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine; }
};

// Of each form, how long it is; PlanStep::kVariable where that depends.
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
  // The table that begins at `at`. kTruncated where the section ends before it, kCorrupt where an
  // entry has absurdly many attributes. `size` gets how many bytes were read.
  static Result<Abbreviations> Read(Cursor at, Encoding encoding, std::uint64_t& size);

  // Null where there is none. Valid as long as the table.
  const Abbreviation* Find(std::uint64_t code) const {
    // Compilers number them from 1 on.
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

  std::vector<Abbreviation> entries_;  // by code
  std::vector<AttributeShape> shapes_;
  std::vector<PlanStep> steps_;
};

}  // namespace perftape::dwarf
