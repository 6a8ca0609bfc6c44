// SPDX-License-Identifier: Apache-2.0
// Writes bytes as a big-endian machine does, field by field.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape {

class BigEndianBytes {
 public:
  BigEndianBytes& U16(std::uint16_t value) { return Append(value, 2); }
  BigEndianBytes& U32(std::uint32_t value) { return Append(value, 4); }
  BigEndianBytes& U64(std::uint64_t value) { return Append(value, 8); }
  // Adds NULs to fill `size`.
  BigEndianBytes& Text(std::string_view text, std::size_t size) {
    ByteWriter(bytes_).Blob(AsBytes(text), size);
    return *this;
  }
  BigEndianBytes& Zeros(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  BigEndianBytes& Append(std::uint64_t value, unsigned size) {
    for (unsigned i = size; i-- > 0;) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }

  std::vector<std::byte> bytes_;
};

}  // namespace perftape
