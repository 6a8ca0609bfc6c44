// SPDX-License-Identifier: Apache-2.0
// Borrowed bytes and the two cursors over them. A layout is a function template over a cursor: run
// over a ByteReader it decodes, over a ByteWriter it encodes. So each field's offset is written
// once:
//
//   template <class Cursor, class LostRef>
//   void LostLayout(Cursor& at, LostRef& lost) {
//     at.Fixed(lost.event_id);  // { u64 id;
//     at.Fixed(lost.count);     //   u64 lost; }
//   }
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace perftape {
inline namespace base {

using Bytes = std::span<const std::byte>;

// The bytes of `text`, as long as it lives.
inline Bytes AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The characters of `bytes`, as long as they live.
inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What a cursor takes as one fixed-width field: integers and enums with a stored width.
template <class T>
concept FixedField = std::integral<T> || std::is_enum_v<T>;

// One field of type T at `from`, which may be unaligned, in the given byte order.
template <FixedField T>
T LoadFixed(const std::byte* from, std::endian order) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (sizeof(T) > 1) {
    if (order != std::endian::native) {
      if constexpr (std::is_enum_v<T>) {
        value = static_cast<T>(std::byteswap(static_cast<std::underlying_type_t<T>>(value)));
      } else {
        value = std::byteswap(value);
      }
    }
  }
  return value;
}

// Integers of one width in borrowed bytes: any alignment, either byte order.
template <FixedField T>
class FixedArray {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const FixedArray* array, std::size_t index) : array_(array), index_(index) {}
    T operator*() const { return (*array_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++index_;
      return before;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const FixedArray* array_ = nullptr;
    std::size_t index_ = 0;
  };

  FixedArray() = default;
  // The whole integers in `bytes`; what is left over at the end is not seen.
  FixedArray(Bytes bytes, std::endian order) : bytes_(bytes), order_(order) {}
  // Native integers, as long as the caller keeps them.
  explicit FixedArray(std::span<const T> values) : bytes_(std::as_bytes(values)) {}

  std::size_t size() const { return bytes_.size() / sizeof(T); }
  bool empty() const { return size() == 0; }
  T operator[](std::size_t i) const { return LoadFixed<T>(bytes_.data() + i * sizeof(T), order_); }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  Bytes bytes() const { return bytes_; }
  std::endian order() const { return order_; }

 private:
  Bytes bytes_;
  std::endian order_ = std::endian::native;
};

using WordArray = FixedArray<std::uint64_t>;

// Never fails loudly in the middle: the first read past the end makes it fail for good, and every
// read from then on yields zero or an empty view. A decoder runs straight through its fields and
// asks ok() once, at the end. Views it hands out live as long as the bytes.
class ByteReader {
 public:
  static constexpr bool kReads = true;

  explicit ByteReader(Bytes bytes, std::endian order = std::endian::native)
      : bytes_(bytes), order_(order) {}

  template <FixedField T>
  void Fixed(T& field) {
    const Bytes bytes = Take(sizeof(T));
    field = bytes.empty() ? T{} : LoadFixed<T>(bytes.data(), order_);
  }

  // `count` integers; the count is compared with what is left before it is multiplied.
  template <class T>
  void Array(FixedArray<T>& field, std::uint64_t count) {
    if (count > remaining() / sizeof(T)) {
      Break();
      count = 0;
    }
    field = FixedArray<T>(Take(count * sizeof(T)), order_);
  }
  void Words(WordArray& field, std::uint64_t count) { Array(field, count); }

  void Blob(Bytes& field, std::uint64_t size) { field = Take(size); }

  // `size` bytes holding a NUL-terminated string; all of them where no NUL ends it.
  void PaddedString(std::string_view& field, std::uint64_t size) {
    const std::string_view text = AsText(Take(size));
    field = text.substr(0, text.find('\0'));
  }
  void PaddedString(std::string& field, std::uint64_t size) {
    std::string_view view;
    PaddedString(view, size);
    field = view;
  }

  // A string that takes the rest of the record, NUL-terminated and padded to a multiple of 8.
  void Name(std::string_view& field) { PaddedString(field, remaining()); }
  void Name(std::string& field) { PaddedString(field, remaining()); }

  void Padding(std::uint64_t size) { Take(size); }

  // The next read fails, as if the bytes had ended here: for what contradicts itself.
  void Break() {
    ok_ = false;
    bytes_ = {};
  }

  [[nodiscard]] bool ok() const { return ok_; }
  std::size_t remaining() const { return bytes_.size(); }
  // What is not read yet, without reading it.
  std::string_view Rest() const { return AsText(bytes_); }
  std::endian order() const { return order_; }

 private:
  Bytes Take(std::uint64_t size) {
    if (size > bytes_.size()) {
      Break();
      return {};
    }
    const Bytes taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  Bytes bytes_;
  std::endian order_;
  bool ok_ = true;
};

// The same verbs, appending to a vector that the caller keeps. Writes native order, which is little
// endian on every machine perftape records on.
class ByteWriter {
 public:
  static constexpr bool kReads = false;

  explicit ByteWriter(std::vector<std::byte>& out) : out_(out), start_(out.size()) {}

  template <FixedField T>
  void Fixed(const T& field) {
    Append(std::as_bytes(std::span(&field, 1)));
  }

  // Zeros follow where the field has fewer integers, or bytes, than are asked for.
  template <class T>
  void Array(const FixedArray<T>& field, std::uint64_t count) {
    if (field.order() == std::endian::native) {
      Blob(field.bytes(), count * sizeof(T));
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) Fixed(i < field.size() ? field[i] : T{});
  }
  void Words(const WordArray& field, std::uint64_t count) { Array(field, count); }

  void Blob(Bytes field, std::uint64_t size) {
    const std::uint64_t there = std::min<std::uint64_t>(size, field.size());
    Append(field.first(there));
    Padding(size - there);
  }

  // Cut where it would leave no room for the NUL.
  void PaddedString(std::string_view field, std::uint64_t size) {
    const std::string_view text = field.substr(0, size == 0 ? 0 : size - 1);
    Append(AsBytes(text));
    Padding(size - text.size());
  }

  void Name(std::string_view field) { PaddedString(field, (field.size() / 8 + 1) * 8); }

  void Padding(std::uint64_t size) { out_.resize(out_.size() + size); }

  // Bytes written since this writer was made.
  std::size_t size() const { return out_.size() - start_; }

 private:
  void Append(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte>& out_;
  std::size_t start_;
};

}  // namespace base
}  // namespace perftape
