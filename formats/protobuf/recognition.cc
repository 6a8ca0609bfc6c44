// SPDX-License-Identifier: Apache-2.0
#include "formats/protobuf/recognition.h"

#include <algorithm>

#include <protozero/types.hpp>

namespace perftape::protobuf {
namespace {

constexpr std::size_t kMostVarintBytes = 10;

// Reads a varint. Returns nothing if the bytes end before it does, or it is too long.
std::optional<std::uint64_t> ReadVarint(Bytes& rest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min(rest.size(), kMostVarintBytes); ++i) {
    const auto byte = std::to_integer<std::uint64_t>(rest[i]);
    value |= (byte & 0x7f) << 7 * i;
    if (byte < 0x80) {
      rest = rest.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

bool IsInNoText(std::byte byte) {
  const auto value = std::to_integer<unsigned char>(byte);
  return value < '\t' || (value > '\r' && value < ' ');
}

FieldStep EndOf(const Beginning& rest) {
  return rest.is_cut && rest.bytes.size() < kMostVarintBytes ? FieldStep::kEnd
                                                             : FieldStep::kNoField;
}

}  // namespace

FieldStep NextField(Beginning& rest, FieldBeginning& field, bool& is_binary) {
  if (rest.bytes.empty()) return FieldStep::kEnd;
  const std::byte first = rest.bytes.front();
  const std::optional<std::uint64_t> key = ReadVarint(rest.bytes);
  if (!key) return EndOf(rest);
  field = {.number = static_cast<std::uint32_t>(*key >> 3)};
  if (field.number == 0 || *key >> 32 != 0) return FieldStep::kNoField;
  is_binary |= IsInNoText(first);
  const auto type = static_cast<protozero::pbf_wire_type>(*key & 7);
  field.is_varint = type == protozero::pbf_wire_type::varint;
  field.is_fixed64 = type == protozero::pbf_wire_type::fixed64;
  field.has_length = type == protozero::pbf_wire_type::length_delimited;
  std::uint64_t size = sizeof(std::uint64_t);
  if (field.is_varint || field.has_length) {
    const std::optional<std::uint64_t> value = ReadVarint(rest.bytes);
    if (!value) return EndOf(rest);
    is_binary |= field.has_length && *value == 0;
    size = field.is_varint ? 0 : *value;
  } else if (!field.is_fixed64) {
    return FieldStep::kNoField;  // no format of ours has others
  }
  const bool is_cut = size > rest.bytes.size();
  if (is_cut && !rest.is_cut) return FieldStep::kNoField;
  field.content = {.bytes = rest.bytes.first(is_cut ? rest.bytes.size() : size), .is_cut = is_cut};
  rest.bytes = rest.bytes.subspan(field.content.bytes.size());
  return FieldStep::kField;
}

}  // namespace perftape::protobuf
