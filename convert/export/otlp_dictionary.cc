// SPDX-License-Identifier: Apache-2.0
#include "convert/export/otlp_dictionary.h"

#include <algorithm>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/model/mappings_without_files.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/json_fields.h"

namespace perftape::convert {
namespace {

using otlp::AnyValue;
using otlp::Index;

// Values of profile.frame.type, besides kKernelFrame.
constexpr std::string_view kNativeFrame = "native";

// How the names of code in a perf map begin, and which interpreter writes them.
struct JitPrefix {
  std::string_view prefix, frame_type;
};
constexpr JitPrefix kJitPrefixes[] = {
    {"py::", "cpython"},   {"JS:", "v8js"},     {"LazyCompile:", "v8js"},
    {"Function:", "v8js"}, {"Script:", "v8js"}, {"Eval:", "v8js"},
    {"Builtin:", "v8js"},  {"RegExp:", "v8js"}, {"BytecodeHandler:", "v8js"},
};
// perf-map-agent: "Ljava/lang/String;::hashCode".
constexpr std::string_view kJvmSeparator = ";::";

std::string_view TypeOfJitCode(std::string_view name) {
  for (const JitPrefix& known : kJitPrefixes) {
    if (name.starts_with(known.prefix)) return known.frame_type;
  }
  return name.starts_with('L') && name.contains(kJvmSeparator) ? "jvm" : "";
}

std::string_view TypeOfSource(std::string_view source) {
  if (source.ends_with(".go")) return "go";
  return source.ends_with(".rs") ? "rust" : kNativeFrame;
}

// Go's build ids have slashes, those of linkers are hexadecimal.
std::string_view KeyOfBuildId(std::string_view build_id) {
  const bool is_hex =
      build_id.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  return is_hex ? otlp::kGnuBuildId : otlp::kGoBuildId;
}

AnyValue ValueOfLabel(const Profile& profile, const Label& label) {
  if (label.text == StringId{}) return {.integer = label.number};
  return {.text = profile.text(label.text)};
}

}  // namespace

AnyValue ValueOfLabels(const Profile& profile, std::span<const Label> labels) {
  if (labels.size() == 1) return ValueOfLabel(profile, labels.front());
  otlp::ArrayValue array;
  for (const Label& label : labels) array.values.push_back(ValueOfLabel(profile, label));
  return {.array = std::move(array)};
}

OtlpDictionary::OtlpDictionary(const Profile& profile, otlp::Writer& writer)
    : profile_(profile),
      writer_(writer),
      frames_(profile, FrameIdentity::kType),
      texts_(profile.texts().size()),
      mappings_(profile.mappings().size()),
      functions_(profile.functions().size()),
      locations_(profile.locations().size()),
      stacks_(profile.stacks().size()) {
  // Entry 0 of these tables.
  mappings_.front() = stacks_.front() = 0;
}

Index OtlpDictionary::TextOf(StringId text) {
  std::optional<Index>& known = texts_[text.index];
  if (!known) known = writer_.Text(profile_.text(text));
  return *known;
}

Index OtlpDictionary::Attribute(std::string_view key, const AnyValue& value,
                                std::string_view unit) {
  const otlp::KeyValueAndUnit attribute = {
      .key = writer_.Text(key), .value = value, .unit = writer_.Text(otlp::UcumOfUnit(unit))};
  std::string json;
  otlp::AppendJson(json, attribute);
  const auto [entry, is_new] = attributes_.try_emplace(std::move(json));
  if (is_new) entry->second = writer_.Add(attribute);
  return entry->second;
}

void OtlpDictionary::AppendLabels(std::span<const Label> labels, std::vector<Index>& attributes) {
  std::vector<Label> same_unit;
  ForEachKey(labels, [&](std::span<const Label> of_key) {
    const StringId unit = of_key.front().unit;
    same_unit.clear();
    std::ranges::copy_if(of_key, std::back_inserter(same_unit),
                         [&](const Label& label) { return label.unit == unit; });
    lost_labels_ += of_key.size() - same_unit.size();
    const std::string_view key = profile_.text(of_key.front().key);
    const bool is_cpu = key == kCpuLabel && profile_.text(unit) == kCpuLabel;
    attributes.push_back(Attribute(is_cpu ? otlp::kCpuNumber : key,
                                   ValueOfLabels(profile_, same_unit),
                                   is_cpu ? std::string_view() : profile_.text(unit)));
  });
}

Index OtlpDictionary::LinkOf(std::string_view trace_id, std::string_view span_id) {
  const auto [entry, is_new] = links_.try_emplace(std::string(trace_id) + std::string(span_id));
  if (is_new) entry->second = writer_.Add(otlp::Link{.trace_id = {trace_id}, .span_id = {span_id}});
  return entry->second;
}

Index OtlpDictionary::MappingOf(MappingId id) {
  std::optional<Index>& known = mappings_[id.index];
  if (known) return *known;
  const Mapping& mapping = profile_[id];
  otlp::Mapping written = {.memory_start = mapping.start,
                           .memory_limit = mapping.limit,
                           .file_offset = mapping.file_offset,
                           .filename = TextOf(mapping.filename)};
  if (const std::string_view build_id = profile_.text(mapping.build_id); !build_id.empty()) {
    written.attributes.push_back(Attribute(KeyOfBuildId(build_id), {.text = build_id}));
  }
  const auto add_flag = [&](std::string_view key, bool is_set) {
    if (is_set) written.attributes.push_back(Attribute(key, {.boolean = true}));
  };
  add_flag(otlp::kHasFunctions, mapping.names.functions);
  add_flag(otlp::kHasFilenames, mapping.names.filenames);
  add_flag(otlp::kHasLineNumbers, mapping.names.line_numbers);
  add_flag(otlp::kHasInlineFrames, mapping.names.inline_frames);
  known = writer_.Add(written);
  return *known;
}

// A function needs a text. One without any is "not set".
Index OtlpDictionary::FunctionOf(FunctionId id) {
  std::optional<Index>& known = functions_[id.index];
  if (known) return *known;
  const Function& function = profile_[id];
  const bool has_text = function.name != StringId{} || function.system_name != StringId{} ||
                        function.filename != StringId{};
  known = !has_text ? 0
                    : writer_.Add(otlp::Function{.name = TextOf(function.name),
                                                 .system_name = TextOf(function.system_name),
                                                 .filename = TextOf(function.filename),
                                                 .start_line = function.start_line});
  return *known;
}

std::string_view OtlpDictionary::FrameTypeOf(LocationId id) const {
  const std::span<const FrameId> frames = frames_.Of(id);
  if (frames.empty()) return {};
  const Frame& outermost = frames_[frames.back()];
  if (outermost.type == FrameType::kKernel) return otlp::kKernelFrame;
  if (outermost.type == FrameType::kJit) return TypeOfJitCode(outermost.name);
  const Mapping& mapping = profile_[profile_[id].mapping];
  if (mapping.filename == StringId{} || IsOfFolded(profile_, mapping)) return {};
  const auto with_source = std::ranges::find_if(
      frames, [&](FrameId frame) { return frames_[frame].source != StringId{}; });
  return with_source == frames.end() ? kNativeFrame
                                     : TypeOfSource(profile_.text(frames_[*with_source].source));
}

Index OtlpDictionary::NewLocation(LocationId id) {
  const Location& location = profile_[id];
  otlp::Location written = {.mapping = MappingOf(location.mapping),
                            .address = profile_.AddressOf(location).value};
  for (const Line& line : location.lines) {
    written.lines.push_back({.function = FunctionOf(line.function),
                             .line = line.number,
                             .column = static_cast<std::int64_t>(line.column)});
  }
  if (const std::string_view type = FrameTypeOf(id); !type.empty()) {
    written.attributes.push_back(Attribute(otlp::kFrameType, {.text = type}));
  }
  if (location.is_folded) {
    written.attributes.push_back(Attribute(otlp::kIsFolded, {.boolean = true}));
  }
  return writer_.Add(written);
}

Index OtlpDictionary::LocationOf(LocationId id) {
  std::optional<Index>& known = locations_[id.index];
  if (!known) known = NewLocation(id);
  return *known;
}

Index OtlpDictionary::StackOf(StackId id) {
  std::optional<Index>& known = stacks_[id.index];
  if (known) return *known;
  otlp::Stack written;
  for (StackId at = id; at != StackId{}; at = profile_[at].caller) {
    written.locations.push_back(LocationOf(profile_[at].leaf));
  }
  known = writer_.Add(written);
  return *known;
}

}  // namespace perftape::convert
