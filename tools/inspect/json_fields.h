// SPDX-License-Identifier: Apache-2.0
// Fields of a record as members of a JSON object.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "formats/base/text.h"
#include "tools/inspect/record_fields.h"

namespace perftape::inspect {

// Fills the innermost open object.
class JsonFields final : public RecordFields {
 public:
  // `out` is an object that outlives the visitor.
  explicit JsonFields(nlohmann::ordered_json& out) : open_{&out} {}

  void Number(std::string_view name, std::uint64_t value) override { Put(name, value); }
  void Signed(std::string_view name, std::int64_t value) override { Put(name, value); }
  void Real(std::string_view name, double value) override { Put(name, value); }
  void Hex(std::string_view name, std::uint64_t value) override {
    Put(name, fmt::format("{:#x}", value));
  }
  void Word(std::string_view name, std::string_view value) override { Put(name, value); }
  void Text(std::string_view name, std::string_view value) override { Put(name, value); }
  void Words(std::string_view name, std::span<const std::string> values) override {
    Put(name, Json(std::vector<std::string>(values.begin(), values.end())));
  }
  void Blob(std::string_view name, Bytes value) override {
    std::string digits;
    for (const std::byte byte : value) {
      AppendFormat(digits, "{:02x}", std::to_integer<unsigned>(byte));
    }
    Put(name, digits);
  }
  void OpenList(std::string_view name, std::size_t /*count*/) override {
    Json& list = (*open_.back())[std::string(name)] = Json::array();
    open_.push_back(&list);
  }
  void OpenItem() override {
    open_.back()->push_back(Json::object());
    open_.push_back(&open_.back()->back());
  }
  void CloseItem() override { open_.pop_back(); }
  void CloseList() override { open_.pop_back(); }
  void OpenGroup(std::string_view name) override {
    Json& group = (*open_.back())[std::string(name)] = Json::object();
    open_.push_back(&group);
  }
  void CloseGroup() override { open_.pop_back(); }
  void Trailer() override {
    Json& trailer = (*open_.back())["sample_id"] = Json::object();
    open_.push_back(&trailer);
  }
  void Remark(std::string_view remark) override { Put("remark", remark); }

 private:
  using Json = nlohmann::ordered_json;

  template <class Value>
  void Put(std::string_view name, Value&& value) {
    (*open_.back())[std::string(name)] = std::forward<Value>(value);
  }

  std::vector<Json*> open_;
};

}  // namespace perftape::inspect
