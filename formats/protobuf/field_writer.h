// SPDX-License-Identifier: Apache-2.0
// Encodes messages field by field, as the Layout of their format lists the fields; the counterpart
// of field_reader.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <protozero/types.hpp>

#include "formats/protobuf/field.h"

namespace perftape::protobuf {

// The key in front of a field.
inline std::uint64_t KeyOf(std::uint32_t field, protozero::pbf_wire_type type) {
  return std::uint64_t{field} << 3 | std::to_underlying(type);
}

// The bytes of a varint: 7 bits a byte, one byte at least.
inline std::size_t VarintSize(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Counts bytes.
class ByteCounter {
 public:
  void Varint(std::uint64_t value) { size_ += VarintSize(value); }
  void Text(std::string_view text) { size_ += text.size(); }
  void Fixed(std::uint64_t) { size_ += sizeof(std::uint64_t); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

// Writes bytes to `at`, which has room for what a ByteCounter counted.
class ByteOutput {
 public:
  explicit ByteOutput(char* at) : at_(at) {}
  void Varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  void Text(std::string_view text) { at_ = std::ranges::copy(text, at_).out; }
  void Fixed(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) *at_++ = static_cast<char>(value >> shift);
  }

 private:
  char* at_;
};

template <class Message>
std::size_t SizeOfFields(const Message& message);

// Encodes the fields that a Layout passes to it. As in all of proto3, numbers that are 0 are left
// out.
template <class Out>
class FieldWriter {
 public:
  explicit FieldWriter(Out& out) : out_(out) {}

  template <class FieldId, class Value>
  requires kIsValue<Value>
  void operator()(FieldId field, const Value& value) {
    if (value != Value{}) Put(field, value);
  }
  template <class FieldId, class Value>
  requires kIsValue<Value>
  void operator()(FieldId field, const std::optional<Value>& value) {
    if (value) Put(field, *value);
  }
  template <class FieldId, class Number>
  requires std::is_integral_v<Number>
  void operator()(FieldId field, const std::vector<Number>& values) { Packed(field, values); }
  template <class FieldId>
  void operator()(FieldId field, const std::vector<Fixed64>& values) {
    if (values.empty()) return;
    Begin(field, values.size() * sizeof(std::uint64_t));
    for (const Fixed64 value : values) out_.Fixed(value.value);
  }
  template <class FieldId>
  void operator()(FieldId field, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) Text(field, text);
  }
  template <class FieldId, class Message>
  requires(!kIsValue<Message>) void operator()(FieldId field,
                                               const std::optional<Message>& message) {
    if (message) Nested(field, *message);
  }
  template <class FieldId, class Message>
  requires(!kIsValue<Message>) void operator()(FieldId field,
                                               const std::vector<Message>& messages) {
    for (const Message& message : messages) Nested(field, message);
  }

  template <class FieldId>
  void Text(FieldId field, std::string_view text) {
    Begin(field, text.size());
    out_.Text(text);
  }

  template <class FieldId, class Message>
  void Nested(FieldId field, const Message& message) {
    Begin(field, SizeOfFields(message));
    Layout(*this, message);
  }

 private:
  template <class FieldId, class Number>
  requires std::is_integral_v<Number>
  void Put(FieldId field, Number value) {
    out_.Varint(KeyOf(NumberOf(field), protozero::pbf_wire_type::varint));
    out_.Varint(static_cast<std::uint64_t>(value));
  }
  template <class FieldId>
  void Put(FieldId field, Fixed64 value) {
    out_.Varint(KeyOf(NumberOf(field), protozero::pbf_wire_type::fixed64));
    out_.Fixed(value.value);
  }
  template <class FieldId>
  void Put(FieldId field, double value) {
    Put(field, Fixed64{std::bit_cast<std::uint64_t>(value)});
  }
  template <class FieldId>
  void Put(FieldId field, std::string_view text) {
    Text(field, text);
  }
  template <class FieldId>
  void Put(FieldId field, EncodedBytes bytes) {
    Text(field, bytes.bytes);
  }

  template <class FieldId>
  void Begin(FieldId field, std::size_t size) {
    out_.Varint(KeyOf(NumberOf(field), protozero::pbf_wire_type::length_delimited));
    out_.Varint(size);
  }

  template <class FieldId, class Number>
  void Packed(FieldId field, const std::vector<Number>& values) {
    if (values.empty()) return;
    ByteCounter size;
    for (const Number value : values) size.Varint(static_cast<std::uint64_t>(value));
    Begin(field, size.size());
    for (const Number value : values) out_.Varint(static_cast<std::uint64_t>(value));
  }

  Out& out_;
};

template <class Message>
std::size_t SizeOfFields(const Message& message) {
  ByteCounter counter;
  FieldWriter fields(counter);
  Layout(fields, message);
  return counter.size();
}

// Appends the fields that `put` passes to a FieldWriter. Calls `put` twice: the first call counts
// the bytes.
template <class Put>
void AppendFields(std::string& encoded, Put put) {
  ByteCounter counter;
  FieldWriter count(counter);
  put(count);
  const std::size_t before = encoded.size();
  encoded.resize(before + counter.size());
  ByteOutput output(encoded.data() + before);
  FieldWriter write(output);
  put(write);
}

}  // namespace perftape::protobuf
