// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/packed_objects.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/elf/expand.h"

namespace perftape::record {
namespace {

struct PackedObjectRow {
  std::string_view name;
  std::size_t size;  // of the expanded object, in bytes
};

// kPackedObjects, the objects as one .xz file, and kObjectRows, in the same order.
#include "packed_bpf_objects.inc"

constexpr std::uint64_t kMostExpanded = std::uint64_t{64} << 20;  // bytes; they are 2 MB

}  // namespace

Bytes PackedObject(std::string_view name) {
  static const std::vector<std::byte> objects =
      elf::ExpandXz(std::as_bytes(std::span(kPackedObjects)), kMostExpanded)
          .value_or(std::vector<std::byte>());
  std::size_t begin = 0;
  for (const PackedObjectRow& row : kObjectRows) {
    const std::size_t end = begin + row.size;
    if (row.name == name && end <= objects.size()) return Bytes(objects).subspan(begin, row.size);
    begin = end;
  }
  return {};
}

}  // namespace perftape::record
