// SPDX-License-Identifier: Apache-2.0
// The third cursor for a layout: reads bytes of either order and writes the same in native order.
// Numbers are turned; texts, what pads them, and blobs are copied. So what comes out is as long as
// what went in, and differs from it in nothing but the order.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape {
inline namespace base {

// Fails as ByteReader does: what is in `out` then is worth nothing. Views it hands out live as long
// as the bytes it reads.
class ByteTranscoder {
 public:
  static constexpr bool kReads = true;

  ByteTranscoder(Bytes bytes, std::endian order, std::vector<std::byte>& out)
      : from_(bytes, order), to_(out) {}

  template <FixedField T>
  void Fixed(T& field) {
    from_.Fixed(field);
    to_.Fixed(field);
  }

  void Words(WordArray& field, std::uint64_t count) {
    from_.Words(field, count);
    to_.Words(field, field.size());
  }

  void Blob(Bytes& field, std::uint64_t size) {
    from_.Blob(field, size);
    to_.Blob(field, field.size());
  }

  void PaddedString(std::string_view& field, std::uint64_t size) {
    Bytes bytes;
    Blob(bytes, size);
    const std::string_view text = AsText(bytes);
    field = text.substr(0, text.find('\0'));
  }
  void PaddedString(std::string& field, std::uint64_t size) {
    std::string_view view;
    PaddedString(view, size);
    field = view;
  }

  void Name(std::string_view& field) { PaddedString(field, remaining()); }
  void Name(std::string& field) { PaddedString(field, remaining()); }

  void Padding(std::uint64_t size) {
    Bytes bytes;
    Blob(bytes, size);
  }

  // For what no order of bytes describes, as bit-fields: takes `size` bytes, and writes what the
  // caller makes of them.
  Bytes Take(std::uint64_t size) {
    Bytes bytes;
    from_.Blob(bytes, size);
    return bytes;
  }
  void Put(Bytes bytes) { to_.Blob(bytes, bytes.size()); }

  void Break() { from_.Break(); }

  [[nodiscard]] bool ok() const { return from_.ok(); }
  std::size_t remaining() const { return from_.remaining(); }
  std::string_view Rest() const { return from_.Rest(); }
  std::endian order() const { return from_.order(); }

 private:
  ByteReader from_;
  ByteWriter to_;
};

}  // namespace base
}  // namespace perftape
