// SPDX-License-Identifier: Apache-2.0
// The cursor that shows fields. A layout passes its fields to a FieldVisitor, in the layout's order
// and with the names and forms that the layout gives them (field.h).
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/field.h"
#include "formats/perfdata/field_visitor.h"

namespace perftape::perfdata {

// Like a ByteWriter, it gets values that are const and complete.
class FieldCursor {
 public:
  static constexpr bool kReads = false;
  static constexpr bool kShowsFields = true;

  // Words in rows of `columns.size()`, each a column with a description.
  struct Columns {
    const WordArray& words;
    std::initializer_list<FieldInfo> columns;
  };

  // `to` must outlive the cursor.
  explicit FieldCursor(FieldVisitor& to) : to_(to) {}
  // `order` is that of the bytes that the value was decoded from.
  FieldCursor(FieldVisitor& to, std::endian order) : to_(to), order_(order) {}

  // A field without a description is not shown.
  template <FixedField T>
  void Fixed(const T& /*value*/) {}
  template <class T>
  void Array(const FixedArray<T>& /*values*/, std::uint64_t /*count*/) {}
  void Words(const WordArray& /*values*/, std::uint64_t /*count*/) {}
  void Blob(Bytes /*value*/, std::uint64_t /*size*/) {}
  void PaddedString(std::string_view /*text*/, std::uint64_t /*size*/) {}
  void Count(std::uint64_t /*count*/, std::uint64_t /*entry_size*/) {}
  void Padding(std::uint64_t /*size*/) {}
  void EndOfFixed() {}

  template <std::integral T>
  void Fixed(const T& value, const FieldInfo& info) {
    Integer(info, static_cast<std::make_unsigned_t<T>>(value),
            static_cast<std::make_signed_t<T>>(value));
  }
  template <std::integral T>
  void Array(const FixedArray<T>& values, std::uint64_t /*count*/, const FieldInfo& info) {
    std::vector<Element> elements;
    for (const T value : values) {
      elements.push_back(
          {static_cast<std::make_unsigned_t<T>>(value), static_cast<std::make_signed_t<T>>(value)});
    }
    Elements(info, elements);
  }
  void Words(const WordArray& values, std::uint64_t count, const FieldInfo& info);
  void Blob(Bytes value, std::uint64_t size, const FieldInfo& info);
  void PaddedString(std::string_view text, std::uint64_t /*size*/, const FieldInfo& info) {
    to_.Text(info.name, text);
  }
  void Name(std::string_view text, const FieldInfo& info) { to_.Text(info.name, text); }

  // The functions below have no counterpart in the cursors over bytes.
  void Real(double value, const FieldInfo& info) { to_.Real(info.name, value); }
  void Id(const BuildId& id, const FieldInfo& info) { to_.Word(info.name, id.hex()); }
  void Attr(const EventAttr& attr, const FieldInfo& info);
  void Device(std::uint32_t device_major, std::uint32_t device_minor, const FieldInfo& info);
  void Order(std::endian order, const FieldInfo& info);
  void Program(Bytes bpf_prog_info);
  // A list whose items are the rows of all `tables`. Empty tables after the first are left out.
  void Table(std::string_view name, std::initializer_list<Columns> tables);
  // A list whose items are shown by layout(item).
  template <class Items, class Layout>
  void List(std::string_view name, const Items& items, Layout&& layout) {
    to_.OpenList(name, items.size());
    for (const auto& item : items) {
      to_.OpenItem();
      layout(item);
      to_.CloseItem();
    }
    to_.CloseList();
  }

 private:
  struct Element {
    std::uint64_t number = 0;
    std::int64_t signed_number = 0;  // the same bits
  };

  void Integer(const FieldInfo& info, std::uint64_t number, std::int64_t signed_number);
  void Elements(const FieldInfo& info, const std::vector<Element>& elements);
  void Branches(const WordArray& words, const FieldInfo& info);
  void Namespaces(const WordArray& words);

  FieldVisitor& to_;
  std::endian order_ = std::endian::native;
};

}  // namespace perftape::perfdata
