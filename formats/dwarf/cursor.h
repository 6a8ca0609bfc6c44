// SPDX-License-Identifier: Apache-2.0
// Reads a DWARF section from an offset on. As in ByteReader, the first read past the end makes it
// fail for good, and every later read returns zero. It returns values, supports LEB128, and is
// inlined into the loops in which most of the time is spent.
#pragma once

#include <bit>
#include <cstring>
#include <string_view>

#include "formats/base/bytes.h"

namespace perftape::dwarf {

class Cursor {
 public:
  Cursor(Bytes section, std::uint64_t offset, std::endian order)
      : begin_(section.data()),
        at_(section.data() + (offset < section.size() ? offset : section.size())),
        end_(section.data() + section.size()),
        order_(order),
        ok_(offset <= section.size()) {}

  // The offset of the next read in the section.
  std::uint64_t offset() const { return static_cast<std::uint64_t>(at_ - begin_); }
  std::uint64_t remaining() const { return static_cast<std::uint64_t>(end_ - at_); }
  std::endian order() const { return order_; }
  [[nodiscard]] bool ok() const { return ok_; }

  // The initial length of a unit or table (DWARF 5, 7.4). `offset_size` becomes 8 in the 64-bit
  // format, else 4.
  std::uint64_t InitialLength(std::uint8_t& offset_size) {
    constexpr std::uint32_t k64BitFormat = 0xffffffff;
    const std::uint64_t length = Fixed<std::uint32_t>();
    offset_size = length == k64BitFormat ? 8 : 4;
    return offset_size == 8 ? Fixed<std::uint64_t>() : length;
  }

  template <FixedField T>
  T Fixed() {
    if (remaining() < sizeof(T)) {
      Break();
      return T{};
    }
    const T value = LoadFixed<T>(at_, order_);
    at_ += sizeof(T);
    return value;
  }

  // Reads an integer of 1, 2, 3, 4 or 8 bytes. Fails for other sizes.
  std::uint64_t Unsigned(unsigned size) {
    switch (size) {
      case 1:
        return Fixed<std::uint8_t>();
      case 2:
        return Fixed<std::uint16_t>();
      case 3:
        return ThreeBytes();
      case 4:
        return Fixed<std::uint32_t>();
      case 8:
        return Fixed<std::uint64_t>();
      default:
        Break();
        return 0;
    }
  }

  // Reads an unsigned LEB128. Ignores bits beyond the 64th.
  std::uint64_t Uleb() {
    if (at_ != end_ && static_cast<std::uint8_t>(*at_) < 0x80) {  // most have one byte
      return static_cast<std::uint8_t>(*at_++);
    }
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at_ == end_) {
        Break();
        return 0;
      }
      const auto byte = static_cast<std::uint8_t>(*at_++);
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }

  std::int64_t Sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      if (at_ == end_) {
        Break();
        return 0;
      }
      const auto byte = static_cast<std::uint8_t>(*at_++);
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  // Reads a NUL-terminated string. Fails without a NUL.
  std::string_view String() {
    const std::size_t left = remaining();
    const void* nul = left == 0 ? nullptr : std::memchr(at_, 0, left);
    if (nul == nullptr) {
      Break();
      return {};
    }
    const std::string_view text(reinterpret_cast<const char*>(at_),
                                static_cast<const std::byte*>(nul) - at_);
    at_ += text.size() + 1;
    return text;
  }

  void Skip(std::uint64_t size) {
    if (size > remaining()) {
      Break();
    } else {
      at_ += size;
    }
  }

  // Makes the data end after `size` bytes, unless it ends earlier.
  void EndAfter(std::uint64_t size) {
    if (size < remaining()) end_ = at_ + size;
  }

  void Break() {
    ok_ = false;
    at_ = end_;
  }

 private:
  std::uint64_t ThreeBytes() {
    const std::uint64_t a = Fixed<std::uint8_t>(), b = Fixed<std::uint8_t>(),
                        c = Fixed<std::uint8_t>();
    return order_ == std::endian::little ? a | b << 8 | c << 16 : a << 16 | b << 8 | c;
  }

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  std::endian order_;
  bool ok_;
};

// The string at `offset` of a string section. Empty if the offset is outside or the NUL is missing.
inline std::string_view StringAt(Bytes section, std::uint64_t offset) {
  return Cursor(section, offset, std::endian::native).String();
}

}  // namespace perftape::dwarf
