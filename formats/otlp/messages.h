// SPDX-License-Identifier: Apache-2.0
// The messages of OTLP profiles as plain structs: opentelemetry-proto 1.11,
// opentelemetry/proto/profiles/v1development/profiles.proto, common/v1 and resource/v1. An index
// refers to a table of the dictionary; entry 0 of each table is empty and means "not set". The
// views of a message that was read are of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/protobuf/field.h"

namespace perftape::otlp {

using protobuf::EncodedBytes;
using protobuf::Fixed64;

using Index = std::int32_t;

struct AnyValue;
struct KeyValue;

struct ArrayValue {
  std::vector<AnyValue> values;  // an initializer would need the whole type
};

// Its functions are defined where KeyValue is, which contains lists, too.
struct KeyValueList {
  KeyValueList();
  explicit KeyValueList(std::vector<KeyValue> list);
  KeyValueList(const KeyValueList&);
  KeyValueList(KeyValueList&&) noexcept;
  KeyValueList& operator=(const KeyValueList&);
  KeyValueList& operator=(KeyValueList&&) noexcept;
  ~KeyValueList();

  std::vector<KeyValue> values;
};

// One of these is set; none is "no value".
struct AnyValue {
  std::optional<std::string_view> text = {};
  std::optional<bool> boolean = {};
  std::optional<std::int64_t> integer = {};
  std::optional<double> real = {};
  std::optional<ArrayValue> array = {};
  std::optional<KeyValueList> pairs = {};
  std::optional<EncodedBytes> bytes = {};
  std::optional<Index> text_index = {};  // of the string table
};

// An attribute of a resource or a scope.
struct KeyValue {
  std::string_view key = {};
  std::optional<AnyValue> value = {};
  Index key_index = 0;  // of the string table, instead of `key`
};

inline KeyValueList::KeyValueList() = default;
inline KeyValueList::KeyValueList(std::vector<KeyValue> list) : values(std::move(list)) {}
inline KeyValueList::KeyValueList(const KeyValueList&) = default;
inline KeyValueList::KeyValueList(KeyValueList&&) noexcept = default;
inline KeyValueList& KeyValueList::operator=(const KeyValueList&) = default;
inline KeyValueList& KeyValueList::operator=(KeyValueList&&) noexcept = default;
inline KeyValueList::~KeyValueList() = default;

// An attribute of all others, in the dictionary. The unit is UCUM.
struct KeyValueAndUnit {
  Index key = 0;
  std::optional<AnyValue> value = {};
  Index unit = 0;
};

struct Resource {
  std::vector<KeyValue> attributes = {};
};

struct Scope {
  std::string_view name = {}, version = {};
  std::vector<KeyValue> attributes = {};
};

struct ValueType {
  Index type = 0;  // "cpu"
  Index unit = 0;  // "nanoseconds"
  bool operator==(const ValueType&) const = default;
};

// It has values, or times (each is then a value of 1), or one time for each value. Samples of equal
// stack, attributes and link are one.
struct Sample {
  Index stack = 0;
  std::vector<Index> attributes = {};
  Index link = 0;
  std::vector<std::int64_t> values = {};
  std::vector<Fixed64> times_unix_ns = {};
};

// All fields of a Profile message except its samples.
struct ProfileHeader {
  std::optional<ValueType> sample_type = {};
  Fixed64 time_unix_ns = {};
  std::uint64_t duration_ns = 0;
  std::optional<ValueType> period_type = {};
  std::int64_t period = 0;       // in the unit of period_type
  EncodedBytes profile_id = {};  // 16 bytes
  std::string_view original_payload_format = {};
  EncodedBytes original_payload = {};
  std::vector<Index> attributes = {};
};

struct Mapping {
  std::uint64_t memory_start = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t file_offset = 0;
  Index filename = 0;
  std::vector<Index> attributes = {};
  bool operator==(const Mapping&) const = default;
};

struct Line {
  Index function = 0;
  std::int64_t line = 0;  // from 1; 0 if unknown
  std::int64_t column = 0;
  bool operator==(const Line&) const = default;
};

struct Location {
  Index mapping = 0;
  std::uint64_t address = 0;
  std::vector<Line> lines = {};  // innermost first
  std::vector<Index> attributes = {};
  bool operator==(const Location&) const = default;
};

struct Function {
  Index name = 0, system_name = 0, filename = 0;
  std::int64_t start_line = 0;
  bool operator==(const Function&) const = default;
};

struct Link {
  EncodedBytes trace_id = {};  // 16 bytes
  EncodedBytes span_id = {};   // 8 bytes
};

struct Stack {
  std::vector<Index> locations = {};  // leaf first
  bool operator==(const Stack&) const = default;
};

}  // namespace perftape::otlp
