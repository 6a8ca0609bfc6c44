// SPDX-License-Identifier: Apache-2.0
// Checks whether bytes may be the beginning of a message of a given type: whether all their fields,
// including those of messages inside it, are fields of the Layouts (field.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/protobuf/field.h"

namespace perftape::protobuf {

// The beginning of an encoded message.
struct Beginning {
  Bytes bytes;
  bool is_cut = false;  // the message goes on after them
};

// The next field of a beginning.
struct FieldBeginning {
  std::uint32_t number = 0;
  bool is_varint = false, is_fixed64 = false, has_length = false;
  Beginning content = {};  // of one with a length
};

enum class FieldStep : std::uint8_t { kField, kEnd, kNoField };

// Reads the next field of `rest`. Returns kEnd at the end and if the field is cut, and kNoField if
// no field of protobuf begins here. Sets `is_binary` if it has a byte that no text has.
FieldStep NextField(Beginning& rest, FieldBeginning& field, bool& is_binary);

template <class Message>
bool HasOnlyFieldsOf(Beginning rest, bool& is_binary);

// Visits the fields of a layout, and checks whether one has the number and the type of `found`.
class FieldMatcher {
 public:
  FieldMatcher(const FieldBeginning& found, bool& is_binary)
      : found_(found), is_binary_(is_binary) {}

  template <class FieldId, class T>
  void operator()(FieldId field, const T& value) {
    if (found_.number == NumberOf(field)) matches_ = Matches(value);
  }

  bool matches() const { return matches_; }

 private:
  template <class T>
  requires kIsValue<T>
  bool Matches(const T&) const {
    if constexpr (std::is_integral_v<T>) return found_.is_varint;
    if constexpr (std::is_same_v<T, Fixed64> || std::is_same_v<T, double>) return found_.is_fixed64;
    return found_.has_length;
  }
  bool Matches(const std::vector<std::string>&) { return found_.has_length; }
  template <class T>
  bool Matches(const std::optional<T>&) {
    return MatchesItem<T>();
  }
  // Numbers may be packed.
  template <class T>
  bool Matches(const std::vector<T>&) {
    if constexpr (kIsValue<T>) {
      return found_.has_length || Matches(T{});
    } else {
      return MatchesItem<T>();
    }
  }
  template <class T>
  bool MatchesItem() {
    if constexpr (kIsValue<T>) {
      return Matches(T{});
    } else {
      return found_.has_length && HasOnlyFieldsOf<T>(found_.content, is_binary_);
    }
  }

  const FieldBeginning& found_;
  bool& is_binary_;
  bool matches_ = false;
};

// Sets `is_binary` if one of the bytes that were examined cannot be in a text.
template <class Message>
bool HasOnlyFieldsOf(Beginning rest, bool& is_binary) {
  static const Message kMessage;
  while (true) {
    FieldBeginning found;
    const FieldStep step = NextField(rest, found, is_binary);
    if (step != FieldStep::kField) return step == FieldStep::kEnd;
    FieldMatcher field(found, is_binary);
    Layout(field, kMessage);
    if (!field.matches()) return false;
  }
}

// Whether these may be the first bytes of a message of this type, and are not text.
template <class Message>
bool LooksLike(Bytes beginning) {
  bool is_binary = false;
  return HasOnlyFieldsOf<Message>({.bytes = beginning, .is_cut = true}, is_binary) && is_binary;
}

}  // namespace perftape::protobuf
