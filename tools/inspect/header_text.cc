// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/header_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "formats/bundle/embedding.h"
#include "formats/bundle/recording_notes.h"
#include "tools/common/cli/escape.h"
#include "tools/inspect/flag_text.h"
#include "tools/inspect/shown_feature.h"

namespace perftape::inspect {
namespace {

using cli::EscapeForTerminal;
using perfdata::FeatureBit;

// Returns the first part of the header's text. describe(event) gives the line of each event.
template <class Describe>
std::string BeginText(const perfdata::Reader& reader, Describe describe) {
  std::string text;
  const auto end = std::back_inserter(text);
  const bool is_pipe = reader.container() == perfdata::Container::kPipe;
  fmt::format_to(end, "format: perf.data, {}, {} endian\n", is_pipe ? "pipe" : "file",
                 reader.order() == std::endian::little ? "little" : "big");
  fmt::format_to(end, "data: {} bytes at {:#x}\n", reader.data_size(), reader.data_offset());
  fmt::format_to(end, "events: {}\n", reader.events().size());
  for (const perfdata::Event& event : reader.events().all()) {
    fmt::format_to(end, "  {}: {}\n", EscapeForTerminal(event.name), describe(event));
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

}  // namespace

std::string HeaderText(const perfdata::Reader& reader) {
  std::string text = BeginText(reader, [](const perfdata::Event& event) {
    return fmt::format("{} ids {}", AttrText(event.attr), fmt::join(event.ids, ","));
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
    return fmt::format("{}, {}", RateText(event.attr), SampleTypeText(event.attr.sample_type));
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

}  // namespace perftape::inspect
