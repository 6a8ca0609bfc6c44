// SPDX-License-Identifier: Apache-2.0
// The fields of messages, and the types of their values. A format's messages are plain structs; its
// Layout names the field of each member. The types of the members decide how they are encoded:
//
//   bool, std::int32_t, std::int64_t, std::uint64_t   varint; int32 also for enums and uint32
//   double, Fixed64                                   8 bytes
//   std::string_view                                  a string: UTF-8
//   EncodedBytes                                      bytes
//   std::optional of these                            with presence: an item of a oneof
//   std::vector of numbers                            packed
//   std::vector<std::string>                          strings
//   std::optional or std::vector of another struct    messages
//
// As in all of proto3, numbers that are 0 and empty texts are left out when written.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace perftape::protobuf {

// A field's number, and its name in the JSON of protobuf (lowerCamelCase).
struct Field {
  std::uint32_t number;
  std::string_view json_name;
};

constexpr std::uint32_t NumberOf(const Field& field) {
  return field.number;
}
// Formats without JSON have an enum of numbers for each message.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::uint32_t NumberOf(Enum field) {
  return std::to_underlying(field);
}

struct Fixed64 {
  std::uint64_t value = 0;
  bool operator==(const Fixed64&) const = default;
};

// A view of bytes, which need not be text.
struct EncodedBytes {
  std::string_view bytes = {};
  bool operator==(const EncodedBytes&) const = default;
};

template <class T>
inline constexpr bool kIsValue =
    std::is_arithmetic_v<T> || std::is_same_v<T, Fixed64> || std::is_same_v<T, std::string_view> ||
    std::is_same_v<T, EncodedBytes>;

}  // namespace perftape::protobuf
