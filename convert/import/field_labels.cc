// SPDX-License-Identifier: Apache-2.0
#include "convert/import/field_labels.h"

#include <utility>

#include "convert/model/label_keys.h"
#include "formats/perfdata/latency_text.h"

namespace perftape::convert {
namespace {

enum class LabelType : std::uint8_t { kNumber, kText };

}  // namespace

std::set<std::string> FieldNamesOf(const perfdata::EventTable& events) {
  std::set<std::string> names;
  for (const perfdata::Event& event : events.all()) {
    if (!event.tracepoint) continue;
    for (const perfdata::TracepointField& field : event.tracepoint->fields) {
      names.insert(field.name);
    }
  }
  return names;
}

FieldReader::FieldReader(const perfdata::EventTable& events, std::span<const std::string> names,
                         std::string arch)
    : names_(names), arch_(std::move(arch)), wanted_(events.size()) {
  for (std::size_t event = 0; event < events.size(); ++event) {
    const perfdata::TracepointFormat* format = events[event].tracepoint.get();
    if (format == nullptr) continue;
    for (std::uint32_t name = 0; name < names.size(); ++name) {
      const perfdata::TracepointField* field = format->Find(names[name]);
      if (field != nullptr) wanted_[event].push_back({name, field, format->order, &format->name});
    }
  }
}

std::string_view FieldReader::Read(std::size_t event, Bytes raw) {
  values_.clear();
  ByteWriter at(values_);
  for (const Wanted& wanted : wanted_[event]) {
    const auto value = perfdata::ValueOf(*wanted.field, raw, wanted.order);
    if (!value) continue;
    const auto special = perfdata::LatencyFieldText(*wanted.event, *wanted.field, *value, arch_);
    if (!special && value->is_number()) {
      at.Fixed(wanted.name);
      at.Fixed(LabelType::kNumber);
      at.Fixed(value->number);
      continue;
    }
    const std::string text = special ? *special : TextOf(*value);
    if (text.empty()) continue;  // a label without a text is a number
    at.Fixed(wanted.name);
    at.Fixed(LabelType::kText);
    at.Fixed(std::uint64_t{text.size()});
    at.Blob(AsBytes(text), text.size());
  }
  return AsText(values_);
}

void AppendFieldLabels(std::string_view values, std::span<const std::string> names,
                       ProfileBuilder& builder, std::vector<Label>& labels) {
  ByteReader at(AsBytes(values));
  while (at.remaining() > 0) {
    std::uint32_t name = 0;
    LabelType type = {};
    std::uint64_t number = 0;
    at.Fixed(name);
    at.Fixed(type);
    at.Fixed(number);
    const StringId key = builder.Add(FieldLabelKey(names[name]));
    if (type == LabelType::kNumber) {
      // The key is also the unit, because Go's pprof drops a 0 without a unit.
      labels.push_back({.key = key, .number = static_cast<std::int64_t>(number), .unit = key});
      continue;
    }
    Bytes text;
    at.Blob(text, number);
    labels.push_back({.key = key, .text = builder.Add(AsText(text))});
  }
}

}  // namespace perftape::convert
