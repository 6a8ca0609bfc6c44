// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <optional>
#include <ranges>
#include <string_view>

#include "formats/base/text.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "formats/json/write.h"
#include "formats/perfdata/flag_text.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/inspect/shown_feature.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using cli::EscapeForTerminal;
using perfdata::FeatureBit;
using Json = json::Value;

// Returns the first part of the header's text. describe(event) gives the line of each event.
template <class Describe>
std::string BeginText(const perfdata::Reader& reader, Describe describe) {
  std::string text;
  const bool is_pipe = reader.container() == perfdata::Container::kPipe;
  AppendFormat(text, "format: perf.data, {}, {} endian\n", is_pipe ? "pipe" : "file",
               reader.order() == std::endian::little ? "little" : "big");
  AppendFormat(text, "data: {} bytes at {:#x}\n", reader.data_size(), reader.data_offset());
  AppendFormat(text, "events: {}\n", reader.events().size());
  for (const perfdata::Event& event : reader.events().all()) {
    AppendFormat(text, "  {}: {}\n", EscapeForTerminal(event.name), describe(event));
  }
  return text;
}

std::string ProblemText(std::string_view message) {
  return fmt::format("problem: {}\n", EscapeForTerminal(message));
}

// Returns the line of a bundle, or of only notes, after the end of the perf.data, and that of the
// trigger.
std::string BundleText(const perfdata::Reader& reader) {
  const auto extent = bundle::FindEmbedded(reader.file());
  if (!extent) return ProblemText(extent.error().message);
  if (!*extent) return "";
  const bool is_bundle = !bundle::HasOnlyNotes(reader.file(), **extent);
  const std::string text =
      fmt::format("{}: {} bytes at {:#x}\n", is_bundle ? "bundle" : bundle::kNotesName,
                  (*extent)->size, (*extent)->offset);
  const auto notes = bundle::FindNotes(reader.file());
  if (!notes) return text + ProblemText(notes.error().message);
  return *notes ? text + TriggerText((*notes)->trigger) : text;
}

std::string RateText(const perfdata::EventAttr& attr) {
  return attr.Has(perfdata::kFreq) ? fmt::format("{} Hz", attr.sample_period)
                                   : fmt::format("period {}", attr.sample_period);
}

// Returns ["IP","TID"] for "IP|TID".
Json NamesOf(std::string_view bits) {
  Json names = Json::EmptyList();
  if (bits == "none") return names;
  for (const auto name : std::views::split(bits, '|')) names.push_back(std::string_view(name));
  return names;
}

Json AttrOf(const perfdata::EventAttr& attr) {
  Json json = {{"type", attr.type},
               {"size", attr.size},
               {"config", fmt::format("{:#x}", attr.config)},
               {attr.Has(perfdata::kFreq) ? "sample_freq" : "sample_period", attr.sample_period},
               {"sample_type", NamesOf(perfdata::SampleTypeText(attr.sample_type))},
               {"read_format", NamesOf(perfdata::ReadFormatText(attr.read_format))},
               {"flags", NamesOf(perfdata::AttrFlagsText(attr.flags))}};
  perfdata::ForEachRareField(
      attr, [&](const char* name, auto value) { json[name] = value; },
      [&](const char* name, std::uint64_t value) { json[name] = fmt::format("{:#x}", value); });
  return json;
}

Json EventsOf(const perfdata::EventTable& events) {
  Json all = Json::EmptyList();
  for (const perfdata::Event& event : events.all()) {
    all.push_back({{"name", event.name}, {"ids", event.ids}, {"attr", AttrOf(event.attr)}});
  }
  return all;
}

Json FeaturesOf(const perfdata::Reader& reader) {
  Json all = Json::EmptyObject();
  for (const auto& [bit, section] : reader.features()) {
    const std::optional<perfdata::FeatureValue> value = reader.DecodedFeature(bit);
    all[FeatureName(bit)] = value ? ShowFeature(*value, bit, reader).json
                                  : Json({{"size", section.size()}, {"readable", false}});
  }
  return all;
}

}  // namespace

std::string HeaderText(const perfdata::Reader& reader) {
  std::string text = BeginText(reader, [](const perfdata::Event& event) {
    return fmt::format("{} ids {}", perfdata::AttrText(event.attr), Joined(event.ids, ","));
  });
  for (const auto& [bit, section] : reader.features()) {
    text += fmt::format("{}:", FeatureName(bit));
    const std::optional<perfdata::FeatureValue> value = reader.DecodedFeature(bit);
    text += value ? ShowFeature(*value, bit, reader).text
                  : fmt::format(" {} bytes that cannot be read\n", section.size());
  }
  for (const std::string& problem : reader.problems()) {
    text += ProblemText(problem);
  }
  return text + BundleText(reader);
}

std::string HeaderSummary(const perfdata::Reader& reader) {
  std::string text = BeginText(reader, [](const perfdata::Event& event) {
    return fmt::format("{}, {}", RateText(event.attr),
                       perfdata::SampleTypeText(event.attr.sample_type));
  });
  for (const FeatureBit bit :
       {FeatureBit::kHostname, FeatureBit::kOsRelease, FeatureBit::kArch, FeatureBit::kNrCpus,
        FeatureBit::kCmdline, FeatureBit::kSampleTime}) {
    if (const std::optional<perfdata::FeatureValue> value = reader.DecodedFeature(bit)) {
      text += fmt::format("{}:{}", FeatureName(bit), ShowFeature(*value, bit, reader).text);
    }
  }
  return text + BundleText(reader);
}

std::string TriggerText(std::string_view trigger) {
  if (trigger.empty()) return "";
  return fmt::format("written because of: {}\n", EscapeForTerminal(trigger));
}

std::string HeaderJson(const perfdata::Reader& reader) {
  const bool is_pipe = reader.container() == perfdata::Container::kPipe;
  Json json = {
      {"header",
       {cli::SchemaMember(cli::kInspectSchema),
        {"format", is_pipe ? "pipe" : "file"},
        {"byte_order", reader.order() == std::endian::little ? "little" : "big"},
        {"data",
         {{"offset", fmt::format("{:#x}", reader.data_offset())}, {"size", reader.data_size()}}},
        {"events", EventsOf(reader.events())},
        {"features", FeaturesOf(reader)},
        {"problems", Json::ListOf(reader.problems())}}}};
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
  return json::Text(json, json::Layout::kOneLine);
}

}  // namespace perftape::inspect
