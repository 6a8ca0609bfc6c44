// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/packed_objects.h"

#include <cstddef>
#include <vector>

#include "formats/base/packed_data.h"

namespace perftape::record {
namespace {

struct PackedObjectRow {
  std::string_view name;
  std::size_t size;  // of the expanded object, in bytes
};

// kPackedObjects and kObjectRows, in the same order.
#include "packed_bpf_objects.inc"

}  // namespace

Bytes PackedObject(std::string_view name) {
  static const std::vector<std::byte> objects = UnpackBytes(kPackedObjects);
  std::size_t begin = 0;
  for (const PackedObjectRow& row : kObjectRows) {
    if (row.name == name) return Bytes(objects).subspan(begin, row.size);
    begin += row.size;
  }
  return {};
}

}  // namespace perftape::record
