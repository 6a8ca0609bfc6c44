// SPDX-License-Identifier: Apache-2.0
// Makes values for tests that go over all types of records: each field gets another number or text.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

// A cursor that invents what it reads. Fields are 1, 2, 3 and so on, in the order of the layout, so
// a layout that reads a field twice, or into another one, is found. What the values borrow lives as
// long as the cursor.
class ValueMaker {
 public:
  static constexpr bool kReads = true;

  ValueMaker() { EncodeAttr({.type = 1, .config = 2, .flags = 3}, attr_); }

  template <FixedField T>
  void Fixed(T& field, const auto&... /*info*/) {
    field = static_cast<T>(++last_);
  }
  template <class T>
  void Array(FixedArray<T>& field, std::uint64_t count, const auto&... /*info*/) {
    std::vector<std::byte>& bytes = storage_.emplace_back();
    ByteWriter at(bytes);
    for (std::uint64_t i = 0; i < count; ++i) at.Fixed(static_cast<T>(++last_));
    field = FixedArray<T>(Bytes(bytes), std::endian::native);
  }
  void Words(WordArray& field, std::uint64_t count, const auto&... /*info*/) {
    Array(field, count);
  }
  void Blob(Bytes& field, std::uint64_t size, const auto&... /*info*/) {
    storage_.emplace_back(size, static_cast<std::byte>(++last_));
    field = storage_.back();
  }
  void PaddedString(std::string_view& field, std::uint64_t /*size*/, const auto&... /*info*/) {
    field = texts_.emplace_back("text " + std::to_string(++last_));
  }
  void Name(std::string_view& field, const auto&... /*info*/) { PaddedString(field, 0); }
  void Count(std::uint64_t& count, std::uint64_t /*entry_size*/) { count = kEntries; }
  void Padding(std::uint64_t /*size*/) {}
  void EndOfFixed() {}

  void Break() { is_broken_ = true; }
  bool ok() const { return !is_broken_; }
  // Enough for what a layout reads only if there is room for it.
  std::size_t remaining() const { return 4 * kEntries * kWordSize; }
  // The only field that layouts decode with another function.
  std::string_view Rest() const { return AsText(attr_); }
  std::endian order() const { return std::endian::native; }

 private:
  static constexpr std::size_t kEntries = 2;

  std::vector<std::byte> attr_;
  std::deque<std::vector<std::byte>> storage_;
  std::deque<std::string> texts_;
  std::uint64_t last_ = 0;
  bool is_broken_ = false;
};

}  // namespace perftape::perfdata
