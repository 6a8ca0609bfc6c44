// SPDX-License-Identifier: Apache-2.0
// Decodes one message field by field, as the Layout of its format lists the fields:
//
//   template <class Visitor, class M> requires Is<M, ValueType>
//   void Layout(Visitor& field, M& message) {
//     field(ValueTypeField::kType, message.type);
//     ...
//   }
//
// A field is an enumerator with its number as value, or a Field (field.h). Only formats that are
// protobuf include this file, in .cc files: protozero throws exceptions, and Decode catches them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/protobuf/field.h"
#include "formats/protobuf/message_bytes.h"

namespace perftape::protobuf {

// The limit of protobuf's own readers for messages in messages.
constexpr unsigned kDeepestMessage = 100;

class TooDeep : public protozero::exception {
 public:
  const char* what() const noexcept override { return "messages in messages are too deep"; }
};

// Adds the fields in `in` to `message`, as protobuf merges messages. Throws protozero::exception if
// the input is damaged, incomplete or too deep.
template <class Message>
void DecodeMessage(protozero::pbf_reader in, Message& message, unsigned depth = 0);

// Visits the fields of a message's layout for one field of the input, and reads that with the same
// number. A field with another wire type counts as unknown, as protobuf requires. Checking the type
// first ensures that protozero is never asked for a wrong one.
class FieldReader {
 public:
  FieldReader(protozero::pbf_reader& in, unsigned depth) : in_(in), depth_(depth) {}

  template <class FieldId, class T>
  void operator()(FieldId field, T& value) {
    if (!was_read_ && in_.tag() == NumberOf(field)) was_read_ = ReadValue(value);
  }

  bool was_read() const { return was_read_; }

 private:
  bool ReadValue(std::uint64_t& value) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::varint)) return false;
    value = in_.get_uint64();
    return true;
  }
  bool ReadValue(std::int64_t& value) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::varint)) return false;
    value = in_.get_int64();
    return true;
  }
  // Longer varints are cut to 32 bits, as protobuf requires.
  bool ReadValue(std::int32_t& value) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::varint)) return false;
    value = static_cast<std::int32_t>(in_.get_int64());
    return true;
  }
  // Not get_bool, which asserts that the varint has one byte.
  bool ReadValue(bool& value) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::varint)) return false;
    value = in_.get_uint64() != 0;
    return true;
  }
  bool ReadValue(Fixed64& value) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::fixed64)) return false;
    value.value = in_.get_fixed64();
    return true;
  }
  bool ReadValue(double& value) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::fixed64)) return false;
    value = in_.get_double();
    return true;
  }
  // A view of the input.
  bool ReadValue(std::string_view& text) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) return false;
    const protozero::data_view view = in_.get_view();
    text = {view.data(), view.size()};
    return true;
  }
  bool ReadValue(EncodedBytes& bytes) { return ReadValue(bytes.bytes); }
  bool ReadValue(std::vector<std::uint64_t>& values) {
    return ReadList(values, [&] { return in_.get_packed_uint64(); });
  }
  bool ReadValue(std::vector<std::int64_t>& values) {
    return ReadList(values, [&] { return in_.get_packed_int64(); });
  }
  bool ReadValue(std::vector<std::int32_t>& values) {
    return ReadList(values, [&] { return in_.get_packed_int32(); });
  }
  bool ReadValue(std::vector<Fixed64>& values) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      return ReadValue(values.emplace_back()) || (values.pop_back(), false);
    }
    for (const std::uint64_t value : in_.get_packed_fixed64()) values.push_back({value});
    return true;
  }
  bool ReadValue(std::vector<std::string>& texts) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) return false;
    const protozero::data_view text = in_.get_view();
    texts.emplace_back(text.data(), text.size());
    return true;
  }
  template <class T>
  requires kIsValue<T>
  bool ReadValue(std::optional<T>& value) {
    T read = {};
    if (!ReadValue(read)) return false;
    value = read;
    return true;
  }
  template <class Message>
  requires(!kIsValue<Message>) bool ReadValue(std::optional<Message>& message) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) return false;
    if (!message) message.emplace();
    DecodeMessage(in_.get_message(), *message, depth_ + 1);
    return true;
  }
  template <class Message>
  bool ReadValue(std::vector<Message>& messages) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) return false;
    DecodeMessage(in_.get_message(), messages.emplace_back(), depth_ + 1);
    return true;
  }

  // A list of numbers may be packed or not.
  template <class Number, class GetPacked>
  bool ReadList(std::vector<Number>& values, GetPacked get_packed) {
    if (in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      for (const Number value : get_packed()) values.push_back(value);
      return true;
    }
    return ReadValue(values.emplace_back()) || (values.pop_back(), false);
  }

  protozero::pbf_reader& in_;
  unsigned depth_;
  bool was_read_ = false;
};

template <class Message>
void DecodeMessage(protozero::pbf_reader in, Message& message, unsigned depth) {
  if (depth > kDeepestMessage) throw TooDeep();
  while (in.next()) {
    FieldReader field(in, depth);
    Layout(field, message);
    if (!field.was_read()) in.skip();
  }
}

// Adds the fields of the encoded message to `message`. Returns kCorrupt with the offset of the
// message in `file`, of which `encoded` is a part, if it is damaged or incomplete.
template <class Message>
Status DecodeInto(Bytes encoded, Bytes file, Message& message) {
  const std::string_view text = AsText(encoded);
  try {
    DecodeMessage(protozero::pbf_reader(text.data(), text.size()), message);
  } catch (const protozero::exception& error) {
    return Damaged(encoded, file, error.what());
  }
  return {};
}

// The same for a file that is one message.
template <class Message>
Status DecodeInto(Bytes file, Message& message) {
  return DecodeInto(file, file, message);
}

}  // namespace perftape::protobuf
