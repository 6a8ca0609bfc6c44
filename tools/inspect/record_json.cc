// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/record_json.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"
#include "tools/inspect/record_fields.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;

// Fills the innermost open object.
class JsonFields final : public RecordFields {
 public:
  explicit JsonFields(Json& out) : open_{&out} {}

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
      fmt::format_to(std::back_inserter(digits), "{:02x}", std::to_integer<unsigned>(byte));
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
  void Trailer() override {
    Json& trailer = (*open_.back())["sample_id"] = Json::object();
    open_.push_back(&trailer);
  }
  void Remark(std::string_view remark) override { Put("remark", remark); }

 private:
  template <class Value>
  void Put(std::string_view name, Value&& value) {
    (*open_.back())[std::string(name)] = std::forward<Value>(value);
  }

  std::vector<Json*> open_;
};

}  // namespace

std::string RecordJson(const perfdata::RecordView& record, const perfdata::EventTable& events) {
  Json fields = {{"offset", PositionOf(record)},
                 {"type", RecordName(record.type)},
                 {"misc", record.misc},
                 {"size", record.stored_size()}};
  if (record.excess > 0) fields["excess"] = record.excess;
  JsonFields to(fields);
  VisitFields(record, events, to);
  const Json json = {{"record", std::move(fields)}};
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::inspect
