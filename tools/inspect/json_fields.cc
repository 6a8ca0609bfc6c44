// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/json_fields.h"

#include <fmt/core.h>

#include "formats/base/text.h"

namespace perftape::inspect {

using Json = json::Value;

void JsonFields::Number(std::string_view name, std::uint64_t value) {
  At(name) = value;
}

void JsonFields::Signed(std::string_view name, std::int64_t value) {
  At(name) = value;
}

void JsonFields::Real(std::string_view name, double value) {
  At(name) = value;
}

void JsonFields::Hex(std::string_view name, std::uint64_t value) {
  At(name) = fmt::format("{:#x}", value);
}

void JsonFields::Word(std::string_view name, std::string_view value) {
  At(name) = value;
}

void JsonFields::Text(std::string_view name, std::string_view value) {
  At(name) = value;
}

void JsonFields::Words(std::string_view name, std::span<const std::string> values) {
  At(name) = Json::ListOf(values);
}

void JsonFields::Blob(std::string_view name, Bytes value) {
  std::string digits;
  for (const std::byte byte : value) {
    AppendFormat(digits, "{:02x}", std::to_integer<unsigned>(byte));
  }
  At(name) = digits;
}

void JsonFields::OpenList(std::string_view name, std::size_t /*count*/) {
  Json& list = At(name) = Json::EmptyList();
  open_.push_back(&list);
}

void JsonFields::OpenItem() {
  open_.push_back(&open_.back()->push_back(Json::EmptyObject()));
}

void JsonFields::CloseItem() {
  open_.pop_back();
}

void JsonFields::CloseList() {
  open_.pop_back();
}

void JsonFields::OpenGroup(std::string_view name) {
  Json& group = At(name) = Json::EmptyObject();
  open_.push_back(&group);
}

void JsonFields::CloseGroup() {
  open_.pop_back();
}

void JsonFields::Trailer() {
  OpenGroup("sample_id");
}

void JsonFields::Remark(std::string_view remark) {
  Text("remark", remark);
}

Json& JsonFields::At(std::string_view name) {
  return name.empty() ? *open_.back() : (*open_.back())[name];
}

}  // namespace perftape::inspect
