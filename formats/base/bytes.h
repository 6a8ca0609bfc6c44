// SPDX-License-Identifier: Apache-2.0
// Borrowed bytes, and the two cursors over them. A layout is a function template over a cursor.
// With a ByteReader it decodes, with a ByteWriter it encodes. So the offset of each field is
// written once:
//
//   template <class Cursor, class LostRef>
//   void LostLayout(Cursor& at, LostRef& lost) {
//     at.Fixed(lost.event_id);  // { u64 id;
//     at.Fixed(lost.count);     //   u64 lost; }
//   }
//
// The arguments of a call may end with a description of the field, for cursors that show fields
// (formats/perfdata/field_cursor.h). The cursors over bytes ignore it: the functions that have one
// only call those that do not, so the code of a decoder is the same with and without descriptions.
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

// Whether all of `bytes` are zero.
inline bool IsZero(Bytes bytes) {
  if (bytes.empty()) return true;
  return bytes.front() == std::byte{} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

// The word of 64-bit machines: records, ELF notes and stacks are made of such words.
inline constexpr std::size_t kWordSize = sizeof(std::uint64_t);

constexpr std::uint64_t RoundUpToWord(std::uint64_t size) {
  return (size + kWordSize - 1) / kWordSize * kWordSize;
}

// The bytes of `text`, valid as long as the text.
inline Bytes AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The characters of `bytes`, valid as long as the bytes.
inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The types that a cursor reads or writes as one field of fixed width: integers and enums.
template <class T>
concept FixedField = std::integral<T> || std::is_enum_v<T>;

// Loads one field of type T from `from` in byte order `order`. The address may be unaligned.
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

// An array of integers of one width in borrowed bytes, with any alignment and either byte order.
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
  // Contains the whole integers in `bytes`. Ignores an incomplete integer at the end.
  FixedArray(Bytes bytes, std::endian order) : bytes_(bytes), order_(order) {}
  // Views native integers, which the caller keeps alive.
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

// Reads fields one after the other. The first read past the end makes the reader fail for good: it
// and all later reads return zero or an empty view. So a decoder reads all fields without checks
// and asks ok() once, at the end. Views that the reader returns live as long as the bytes.
class ByteReader {
 public:
  static constexpr bool kReads = true;

  explicit ByteReader(Bytes bytes, std::endian order = std::endian::native)
      : bytes_(bytes), order_(order) {}

  template <FixedField T>
  void Fixed(T& field) {
    const Bytes bytes = ReadBytes(sizeof(T));
    field = bytes.empty() ? T{} : LoadFixed<T>(bytes.data(), order_);
  }

  // Reads `count` integers. Compares the count with the remaining bytes before it multiplies.
  template <class T>
  void Array(FixedArray<T>& field, std::uint64_t count) {
    if (count > remaining() / sizeof(T)) {
      Break();
      count = 0;
    }
    field = FixedArray<T>(ReadBytes(count * sizeof(T)), order_);
  }
  void Words(WordArray& field, std::uint64_t count) { Array(field, count); }

  void Blob(Bytes& field, std::uint64_t size) { field = ReadBytes(size); }

  // Reads `size` bytes that contain a NUL-terminated string. Without a NUL, all of them are the
  // string.
  void PaddedString(std::string_view& field, std::uint64_t size) {
    const std::string_view text = AsText(ReadBytes(size));
    field = text.substr(0, text.find('\0'));
  }
  void PaddedString(std::string& field, std::uint64_t size) {
    std::string_view view;
    PaddedString(view, size);
    field = view;
  }

  // Reads the number of the entries that follow, with `entry_size` bytes each. Fails, with 0, if
  // the remaining bytes cannot contain them.
  void Count(std::uint64_t& count, std::uint64_t entry_size) {
    Fixed(count);
    if (count <= remaining() / entry_size) return;
    Break();
    count = 0;
  }

  // Reads the rest of the record as a string, NUL-terminated and padded to a multiple of 8 bytes.
  void Name(std::string_view& field) { PaddedString(field, remaining()); }
  void Name(std::string& field) { PaddedString(field, remaining()); }

  void Padding(std::uint64_t size) { ReadBytes(size); }

  // A layout calls it after the fields that it always has. Which fields follow depends on the
  // values of those before. Cursors that need no bytes end there.
  void EndOfFixed() {}

  // With a description.
  template <FixedField T>
  void Fixed(T& field, const auto& /*info*/) {
    Fixed(field);
  }
  template <class T>
  void Array(FixedArray<T>& field, std::uint64_t count, const auto& /*info*/) {
    Array(field, count);
  }
  void Words(WordArray& field, std::uint64_t count, const auto& /*info*/) { Array(field, count); }
  void Blob(Bytes& field, std::uint64_t size, const auto& /*info*/) { Blob(field, size); }
  void PaddedString(auto& field, std::uint64_t size, const auto& /*info*/) {
    PaddedString(field, size);
  }
  void Name(auto& field, const auto& /*info*/) { Name(field); }

  // Makes the reader fail as if the bytes ended here. Decoders call it for contradictory input.
  void Break() {
    ok_ = false;
    bytes_ = {};
  }

  [[nodiscard]] bool ok() const { return ok_; }
  std::size_t remaining() const { return bytes_.size(); }
  // The bytes that are not read yet. Does not read them.
  std::string_view Rest() const { return AsText(bytes_); }
  std::endian order() const { return order_; }

 private:
  Bytes ReadBytes(std::uint64_t size) {
    if (size > bytes_.size()) {
      Break();
      return {};
    }
    const Bytes bytes = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return bytes;
  }

  Bytes bytes_;
  std::endian order_;
  bool ok_ = true;
};

// Writes the same fields: appends them to a vector that the caller keeps. The byte order is native,
// which is little endian on every machine that perftape records on.
class ByteWriter {
 public:
  static constexpr bool kReads = false;

  explicit ByteWriter(std::vector<std::byte>& out) : out_(out), start_(out.size()) {}

  template <FixedField T>
  void Fixed(const T& field) {
    Append(std::as_bytes(std::span(&field, 1)));
  }

  // Writes zeros for what is missing if the field has fewer than `count` integers. Blob does the
  // same with bytes.
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

  // Cuts the string so that a NUL fits into `size`.
  void PaddedString(std::string_view field, std::uint64_t size) {
    const std::string_view text = field.substr(0, size == 0 ? 0 : size - 1);
    Append(AsBytes(text));
    Padding(size - text.size());
  }

  void Name(std::string_view field) { PaddedString(field, RoundUpToWord(field.size() + 1)); }

  void Count(std::uint64_t count, std::uint64_t /*entry_size*/) { Fixed(count); }

  void Padding(std::uint64_t size) { out_.resize(out_.size() + size); }

  void EndOfFixed() {}

  // With a description.
  template <FixedField T>
  void Fixed(const T& field, const auto& /*info*/) {
    Fixed(field);
  }
  template <class T>
  void Array(const FixedArray<T>& field, std::uint64_t count, const auto& /*info*/) {
    Array(field, count);
  }
  void Words(const WordArray& field, std::uint64_t count, const auto& /*info*/) {
    Array(field, count);
  }
  void Blob(Bytes field, std::uint64_t size, const auto& /*info*/) { Blob(field, size); }
  void PaddedString(std::string_view field, std::uint64_t size, const auto& /*info*/) {
    PaddedString(field, size);
  }
  void Name(std::string_view field, const auto& /*info*/) { Name(field); }

  // The bytes that this writer has written.
  std::size_t size() const { return out_.size() - start_; }

 private:
  void Append(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte>& out_;
  std::size_t start_;
};

}  // namespace base
}  // namespace perftape
