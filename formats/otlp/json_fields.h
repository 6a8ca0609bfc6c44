// SPDX-License-Identifier: Apache-2.0
// Encodes messages as the JSON of OTLP, as layout.h lists the fields: names in lowerCamelCase,
// 64-bit numbers as strings, bytes in base64, ids in hexadecimal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/otlp/layout.h"
#include "formats/otlp/messages.h"

namespace perftape::otlp {

// Append a value.
void AppendJson(std::string& out, std::string_view text);  // as a string
void AppendJson(std::string& out, EncodedBytes bytes);
void AppendJson(std::string& out, bool value);
void AppendJson(std::string& out, std::int32_t value);
void AppendJson(std::string& out, std::int64_t value);
void AppendJson(std::string& out, std::uint64_t value);
void AppendJson(std::string& out, Fixed64 value);
void AppendJson(std::string& out, double value);
// An id in hexadecimal.
void AppendJsonId(std::string& out, EncodedBytes id);

// Whether bytes are an id. That is decided by the field.
constexpr bool IsId(std::string_view json_name) {
  return json_name == "traceId" || json_name == "spanId" || json_name == "profileId";
}

template <class Message>
requires(!protobuf::kIsValue<Message>) void AppendJson(std::string& out, const Message& message);

// Appends the members of one object.
class JsonFields {
 public:
  explicit JsonFields(std::string& out) : out_(out) {}

  template <class T>
  requires protobuf::kIsValue<T>
  void operator()(const Field& field, const T& value) {
    if (value == T{}) return;
    Key(field);
    Value(field, value);
  }
  template <class T>
  void operator()(const Field& field, const std::optional<T>& value) {
    if (!value) return;
    Key(field);
    Value(field, *value);
  }
  template <class T>
  void operator()(const Field& field, const std::vector<T>& values) {
    if (values.empty()) return;
    Key(field);
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out_ += ',';
      Value(field, values[i]);
    }
    out_ += ']';
  }

 private:
  void Key(const Field& field) {
    if (has_any_) out_ += ',';
    has_any_ = true;
    AppendJson(out_, field.json_name);
    out_ += ':';
  }
  template <class T>
  void Value(const Field& field, const T& value) {
    if constexpr (std::is_same_v<T, EncodedBytes>) {
      if (IsId(field.json_name)) return AppendJsonId(out_, value);
    }
    AppendJson(out_, value);
  }

  std::string& out_;
  bool has_any_ = false;
};

template <class Message>
requires(!protobuf::kIsValue<Message>) void AppendJson(std::string& out, const Message& message) {
  out += '{';
  JsonFields fields(out);
  Layout(fields, message);
  out += '}';
}

}  // namespace perftape::otlp
