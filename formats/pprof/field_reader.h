// SPDX-License-Identifier: Apache-2.0
// Decodes one message of profile.proto field by field, as layout.h lists the fields. Only
// formats/pprof includes it: protozero throws exceptions, and the callers there catch them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include "formats/pprof/layout.h"

namespace perftape::pprof {

// Adds the fields in `in` to `message`, as protobuf merges messages. Throws protozero::exception if
// the input is damaged or incomplete.
template <class Message>
void DecodeMessage(protozero::pbf_reader in, Message& message);

// Visits the fields of a message's layout for one field of the input, and reads that with the same
// number. A field with another wire type counts as unknown, as protobuf requires. Checking the type
// first ensures that protozero is never asked for a wrong one.
class FieldReader {
 public:
  explicit FieldReader(protozero::pbf_reader& in) : in_(in) {}

  template <class Field, class T>
  void operator()(Field field, T& value) {
    if (!was_read_ && in_.tag() == std::to_underlying(field)) was_read_ = ReadValue(value);
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
  // Not get_bool, which asserts that the varint has one byte.
  bool ReadValue(bool& value) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::varint)) return false;
    value = in_.get_uint64() != 0;
    return true;
  }
  bool ReadValue(std::vector<std::uint64_t>& values) {
    if (in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      for (const std::uint64_t value : in_.get_packed_uint64()) values.push_back(value);
      return true;
    }
    return ReadValue(values.emplace_back()) || (values.pop_back(), false);
  }
  bool ReadValue(std::vector<std::int64_t>& values) {
    if (in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      for (const std::int64_t value : in_.get_packed_int64()) values.push_back(value);
      return true;
    }
    return ReadValue(values.emplace_back()) || (values.pop_back(), false);
  }
  bool ReadValue(std::vector<std::string>& texts) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) return false;
    const protozero::data_view text = in_.get_view();
    texts.emplace_back(text.data(), text.size());
    return true;
  }
  template <class Message>
  bool ReadValue(std::optional<Message>& message) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) return false;
    if (!message) message.emplace();
    DecodeMessage(in_.get_message(), *message);
    return true;
  }
  template <class Message>
  bool ReadValue(std::vector<Message>& messages) {
    if (!in_.has_wire_type(protozero::pbf_wire_type::length_delimited)) return false;
    DecodeMessage(in_.get_message(), messages.emplace_back());
    return true;
  }

  protozero::pbf_reader& in_;
  bool was_read_ = false;
};

template <class Message>
void DecodeMessage(protozero::pbf_reader in, Message& message) {
  while (in.next()) {
    FieldReader field(in);
    Layout(field, message);
    if (!field.was_read()) in.skip();
  }
}

}  // namespace perftape::pprof
