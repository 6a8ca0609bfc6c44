// SPDX-License-Identifier: Apache-2.0
// What is done with the fields of a record or a feature, one by one: perftape-inspect prints them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"

namespace perftape::perfdata {

// Names are plain words. Views are valid during the call.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  virtual void Number(std::string_view name, std::uint64_t value) = 0;
  virtual void Signed(std::string_view name, std::int64_t value) = 0;
  virtual void Real(std::string_view name, double value) = 0;
  virtual void Hex(std::string_view name, std::uint64_t value) = 0;
  virtual void Word(std::string_view name, std::string_view value) = 0;  // without spaces
  virtual void Text(std::string_view name, std::string_view value) = 0;  // as in the file
  virtual void Words(std::string_view name, std::span<const std::string> values) = 0;
  virtual void Blob(std::string_view name, Bytes value) = 0;
  // A list of items that have fields of their own. OpenItem and CloseItem enclose the fields of
  // each item.
  virtual void OpenList(std::string_view name, std::size_t count) = 0;
  virtual void OpenItem() = 0;
  virtual void CloseItem() = 0;
  virtual void CloseList() = 0;
  // The following fields, up to CloseGroup, belong together.
  virtual void OpenGroup(std::string_view name) = 0;
  virtual void CloseGroup() = 0;
  // The following fields are in the sample_id trailer.
  virtual void Trailer() = 0;
  // The reason why the fields could not be decoded: "cut off".
  virtual void Remark(std::string_view remark) = 0;
};

}  // namespace perftape::perfdata
