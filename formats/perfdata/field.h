// SPDX-License-Identifier: Apache-2.0
// The description of a field: its name and the form in which it is shown. A layout gives it to the
// cursor together with the field, so perftape-inspect's text and JSON follow from the layout:
//
//   at.Fixed(lost.event_id, as::Number("id"));  // { u64 id;
//   at.Fixed(lost.count, as::Number("lost"));   //   u64 lost; }
//
// Cursors over bytes ignore the description. A FieldCursor (field_cursor.h) shows exactly the
// fields that have one; counts, padding and the numbers of formats have none.
#pragma once

#include <cstdint>
#include <string_view>

namespace perftape::perfdata {

enum class Form : std::uint8_t {
  kNumber,
  kSigned,
  kHex,
  kText,
  kBlob,        // bytes, of which none is interpreted
  kSize,        // only the number of the bytes
  kProtection,  // PROT_READ, PROT_WRITE and PROT_EXEC: "r-x"
  kFeature,     // the number of a feature: "HOSTNAME"
  kDataSource,  // PERF_SAMPLE_DATA_SRC, as bits and by their names
  kCallchain,   // addresses and context markers
  kBranches,    // words in threes: from, to, flags
  kNamespaces,  // words in pairs, device and inode, each with the name of its namespace
  kEach,        // numbers, each with a name of its own
};

// The name of a field that is all of its feature, or of its item in a list.
inline constexpr std::string_view kUnnamed = "";

struct FieldInfo {
  std::string_view name = {};  // with the spelling of the kernel or perf
  Form form = Form::kNumber;
  bool is_optional = false;                 // shown only if it has elements
  const std::string_view* names = nullptr;  // kEach: one for each element
};

// Number, Signed and Hex also describe arrays: each element is shown in this form.
namespace as {

constexpr FieldInfo Number(std::string_view name) {
  return {.name = name, .form = Form::kNumber};
}
constexpr FieldInfo Signed(std::string_view name) {
  return {.name = name, .form = Form::kSigned};
}
// A pid, a tid or a CPU; -1 means "none".
constexpr FieldInfo Id(std::string_view name) {
  return Signed(name);
}
// An address or bits.
constexpr FieldInfo Hex(std::string_view name) {
  return {.name = name, .form = Form::kHex};
}
constexpr FieldInfo Text(std::string_view name) {
  return {.name = name, .form = Form::kText};
}
constexpr FieldInfo Blob(std::string_view name) {
  return {.name = name, .form = Form::kBlob};
}
constexpr FieldInfo In(Form form, std::string_view name) {
  return {.name = name, .form = form};
}
// `names` has one name for each number.
constexpr FieldInfo Each(const std::string_view* names) {
  return {.form = Form::kEach, .names = names};
}
// The same field, shown only if it has elements.
constexpr FieldInfo Optional(FieldInfo info) {
  info.is_optional = true;
  return info;
}

}  // namespace as

// Whether a cursor shows fields instead of reading or writing them.
template <class Cursor>
inline constexpr bool kShows = requires {
  Cursor::kShowsFields;
};

}  // namespace perftape::perfdata
