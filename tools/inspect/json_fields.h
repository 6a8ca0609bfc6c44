// SPDX-License-Identifier: Apache-2.0
// Fields of a record or a feature as members of a JSON object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/value.h"
#include "formats/perfdata/field_visitor.h"

namespace perftape::inspect {

// Fills the innermost open object. A field without a name replaces it.
class JsonFields final : public perfdata::FieldVisitor {
 public:
  // `out` outlives the visitor.
  explicit JsonFields(json::Value& out) : open_{&out} {}

  void Number(std::string_view name, std::uint64_t value) override;
  void Signed(std::string_view name, std::int64_t value) override;
  void Real(std::string_view name, double value) override;
  void Hex(std::string_view name, std::uint64_t value) override;
  void Word(std::string_view name, std::string_view value) override;
  void Text(std::string_view name, std::string_view value) override;
  void Words(std::string_view name, std::span<const std::string> values) override;
  void Blob(std::string_view name, Bytes value) override;
  void OpenList(std::string_view name, std::size_t count) override;
  void OpenItem() override;
  void CloseItem() override;
  void CloseList() override;
  void OpenGroup(std::string_view name) override;
  void CloseGroup() override;
  void Trailer() override;
  void Remark(std::string_view remark) override;

 private:
  // The value of the field: a new member, or the innermost open value itself.
  json::Value& At(std::string_view name);

  // Only the innermost value grows while it is open, so the others stay where they are.
  std::vector<json::Value*> open_;
};

}  // namespace perftape::inspect
