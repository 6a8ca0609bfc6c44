// SPDX-License-Identifier: Apache-2.0
// The size and the offsets that all records of a type have in common, computed from its layout.
#pragma once

#include <cstdint>

#include "formats/perfdata/record.h"

namespace perftape::perfdata {

// A body is what is between a record's header and its trailer. It begins with fixed fields.
struct BodyShape {
  enum class End : std::uint8_t {
    kNothing,  // it consists of fixed fields
    kName,     // a name follows them, NUL-terminated and padded to 8
    kEntries,  // entries follow them; the last fixed field is a u64 with their number
    kOpen,     // what follows depends on the values of the fields, or is any number of bytes
  };

  std::uint16_t fixed_size = 0;  // bytes of the fixed fields
  End end = End::kNothing;
  std::uint16_t entry_size = 0;  // bytes of one of the entries

  std::size_t count_offset() const { return fixed_size - kWordSize; }  // for kEntries
};

// The shape of a type in AllRecordTypes; null for all others.
const BodyShape* ShapeOf(RecordType type);

}  // namespace perftape::perfdata
