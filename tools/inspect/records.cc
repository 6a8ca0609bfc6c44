// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "formats/base/text.h"
#include "formats/json/write.h"
#include "formats/perfdata/visit_fields.h"
#include "tools/common/cli/escape.h"
#include "tools/inspect/json_fields.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

constexpr std::size_t kBytesShown = 64;

// Appends " name value" pairs.
class TextFields final : public perfdata::FieldVisitor {
 public:
  explicit TextFields(std::string& out) : out_(out) {}

  void Number(std::string_view name, std::uint64_t value) override { Pair(name, "{}", value); }
  void Signed(std::string_view name, std::int64_t value) override { Pair(name, "{}", value); }
  void Real(std::string_view name, double value) override { Pair(name, "{}", value); }
  void Hex(std::string_view name, std::uint64_t value) override { Pair(name, "{:#x}", value); }
  void Word(std::string_view name, std::string_view value) override {
    Pair(name, "{}", cli::EscapeForTerminal(value));
  }
  void Text(std::string_view name, std::string_view value) override {
    Pair(name, "\"{}\"", cli::EscapeForTerminal(value));
  }
  void Words(std::string_view name, std::span<const std::string> values) override {
    Pair(name, "[{}]", values.size());
    for (const std::string& value : values) Put(" {}", value);
  }
  void Blob(std::string_view name, Bytes value) override {
    Pair(name, "[{}]", value.size());
    const Bytes shown = value.first(std::min(value.size(), kBytesShown));
    for (std::size_t i = 0; i < shown.size(); ++i) {
      Put("{}{:02x}", i % 8 == 0 ? " " : "", std::to_integer<unsigned>(shown[i]));
    }
    if (shown.size() < value.size()) Put(" …");
  }
  void OpenList(std::string_view name, std::size_t count) override { Pair(name, "[{}]", count); }
  void OpenItem() override {
    Put(" (");
    is_first_ = true;
  }
  void CloseItem() override {
    Put(")");
    is_first_ = false;
  }
  void CloseList() override {}
  void OpenGroup(std::string_view name) override {
    Put(" {} (", name);
    is_first_ = true;
  }
  void CloseGroup() override { CloseItem(); }
  void Trailer() override { Put(" |"); }
  void Remark(std::string_view remark) override { Put(" ({})", remark); }

 private:
  template <class... Values>
  void Put(fmt::format_string<Values...> format, Values&&... values) {
    AppendFormat(out_, format, std::forward<Values>(values)...);
  }
  template <class Value>
  void Pair(std::string_view name, fmt::format_string<Value&> format, Value&& value) {
    Put("{}{} ", is_first_ ? "" : " ", name);
    AppendFormat(out_, format, value);
    is_first_ = false;
  }

  std::string& out_;
  bool is_first_ = false;  // the next pair is the first of an item
};

using Json = json::Value;

}  // namespace

std::string RecordText(const perfdata::RecordView& record, const perfdata::EventTable& events) {
  std::string text = fmt::format("{} {} misc {:#x} size {}", PositionOf(record),
                                 RecordName(record.type), record.misc, record.stored_size());
  if (record.excess > 0) AppendFormat(text, " ({} too many)", record.excess);
  text += ':';
  TextFields to(text);
  VisitFields(record, events, to);
  return text;
}

std::string RecordJson(const perfdata::RecordView& record, const perfdata::EventTable& events) {
  Json fields = {{"offset", PositionOf(record)},
                 {"type", RecordName(record.type)},
                 {"misc", record.misc},
                 {"size", record.stored_size()}};
  if (record.excess > 0) fields["excess"] = record.excess;
  JsonFields to(fields);
  VisitFields(record, events, to);
  const Json json = {{"record", std::move(fields)}};
  return json::Text(json, json::Layout::kOneLine);
}

}  // namespace perftape::inspect
