// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/header_json.h"

#include <fmt/format.h>

#include <optional>
#include <ranges>
#include <string_view>

#include <nlohmann/json.hpp>

#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "tools/common/cli/json_text.h"
#include "tools/inspect/flag_text.h"
#include "tools/inspect/shown_feature.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::ordered_json;

// Returns ["IP","TID"] for "IP|TID".
Json NamesOf(std::string_view bits) {
  Json names = Json::array();
  if (bits == "none") return names;
  for (const auto name : std::views::split(bits, '|')) names.push_back(std::string_view(name));
  return names;
}

Json AttrOf(const perfdata::EventAttr& attr) {
  Json json = {{"type", attr.type},
               {"size", attr.size},
               {"config", fmt::format("{:#x}", attr.config)},
               {attr.Has(perfdata::kFreq) ? "sample_freq" : "sample_period", attr.sample_period},
               {"sample_type", NamesOf(SampleTypeText(attr.sample_type))},
               {"read_format", NamesOf(ReadFormatText(attr.read_format))},
               {"flags", NamesOf(AttrFlagsText(attr.flags))}};
  ForEachRareField(
      attr, [&](const char* name, auto value) { json[name] = value; },
      [&](const char* name, std::uint64_t value) { json[name] = fmt::format("{:#x}", value); });
  return json;
}

Json EventsOf(const perfdata::EventTable& events) {
  Json all = Json::array();
  for (const perfdata::Event& event : events.all()) {
    all.push_back({{"name", event.name}, {"ids", event.ids}, {"attr", AttrOf(event.attr)}});
  }
  return all;
}

Json FeaturesOf(const perfdata::Reader& reader) {
  Json all = Json::object();
  for (const auto& [bit, section] : reader.features()) {
    const std::optional<perfdata::FeatureValue> value = reader.DecodedFeature(bit);
    all[FeatureName(bit)] = value ? ShowFeature(*value, bit, reader).json
                                  : Json({{"size", section.size()}, {"readable", false}});
  }
  return all;
}

}  // namespace

std::string HeaderJson(const perfdata::Reader& reader) {
  const bool is_pipe = reader.container() == perfdata::Container::kPipe;
  Json json = {
      {"header",
       {{"format", is_pipe ? "pipe" : "file"},
        {"byte_order", reader.order() == std::endian::little ? "little" : "big"},
        {"data",
         {{"offset", fmt::format("{:#x}", reader.data_offset())}, {"size", reader.data_size()}}},
        {"events", EventsOf(reader.events())},
        {"features", FeaturesOf(reader)},
        {"problems", reader.problems()}}}};
  const auto extent = bundle::FindEmbedded(reader.file());
  if (extent && *extent) {
    const bool is_bundle = !bundle::HasOnlyNotes(reader.file(), **extent);
    json["header"][is_bundle ? "bundle" : "notes"] = {
        {"offset", fmt::format("{:#x}", (*extent)->offset)}, {"size", (*extent)->size}};
    const auto notes = bundle::FindNotes(reader.file());
    if (!notes) json["header"]["problems"].push_back(notes.error().message);
    if (notes && *notes && !(*notes)->trigger.empty()) {
      json["header"]["trigger"] = (*notes)->trigger;
    }
  }
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::inspect
