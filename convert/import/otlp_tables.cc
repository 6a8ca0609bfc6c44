// SPDX-License-Identifier: Apache-2.0
#include "convert/import/otlp_tables.h"

#include <algorithm>
#include <utility>

#include "convert/model/mappings_without_files.h"
#include "formats/base/base64.h"
#include "formats/base/text.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/json_fields.h"
#include "formats/otlp/reader.h"

namespace perftape::convert {
namespace {

using otlp::Index;

constexpr std::string_view kNoSuchAttribute = "no such attribute";
constexpr std::string_view kNotEmpty = "the first entry of a table must be empty";
constexpr std::string_view kTrue = "true";
constexpr std::string_view kFalse = "false";

template <class T>
const T* Find(const std::vector<T>& table, Index index) {
  const auto position = static_cast<std::size_t>(index);
  return index >= 0 && position < table.size() ? &table[position] : nullptr;
}

}  // namespace

Result<OtlpTables> OtlpTables::Read(Bytes file, const DictionaryLimits& limits,
                                    ProfileBuilder& builder, ImportReport& report) {
  TRY_ASSIGN(const Bytes dictionary, otlp::FindDictionary(file));
  TRY_ASSIGN(std::vector<std::string_view> texts,
             otlp::DecodeTexts(dictionary, file, limits.texts));
  TRY_ASSIGN(TextTable table, TextTable::Of(std::move(texts), builder));
  OtlpTables tables(std::move(table), builder);
  TRY(tables.ReadAttributes(dictionary, file));
  TRY(tables.FindKernelMappings(dictionary, file));
  TRY(tables.ReadMappings(dictionary, file, report));
  TRY(tables.ReadFunctions(dictionary, file));
  TRY(tables.ReadLocations(dictionary, file, report));
  TRY(tables.ReadStacks(dictionary, file, limits.frames));
  TRY(tables.ReadLinks(dictionary, file));
  return tables;
}

const OtlpAttribute* OtlpTables::FindAttribute(Index index) const {
  return index == 0 ? nullptr : Find(attributes_, index);
}

const OtlpStack* OtlpTables::FindStack(Index index) const {
  return Find(stacks_, index);
}

const OtlpLink* OtlpTables::FindLink(Index index) const {
  return Find(links_, index);
}

bool OtlpTables::HasAttributes(std::span<const Index> indexes) const {
  return std::ranges::all_of(
      indexes, [&](Index index) { return index == 0 || Find(attributes_, index) != nullptr; });
}

// A value that is neither a text nor an integer becomes a text.
void OtlpTables::AddValue(const otlp::AnyValue& value, const Label& label,
                          std::vector<Label>& labels) {
  const auto add_text = [&](std::string_view text) {
    Label added = {.key = label.key, .text = builder_->Add(text)};
    if (added.text != StringId{}) labels.push_back(added);
  };
  if (value.text) {
    add_text(*value.text);
  } else if (value.text_index) {
    add_text(texts_.View(*value.text_index));
  } else if (value.integer) {
    labels.push_back({.key = label.key, .number = *value.integer, .unit = label.unit});
  } else if (value.boolean) {
    add_text(*value.boolean ? kTrue : kFalse);
  } else if (value.real) {
    std::string text;
    AppendFormat(text, "{}", *value.real);
    add_text(text);
  } else if (value.bytes) {
    add_text(Base64(AsBytes(value.bytes->bytes)));
  } else if (value.array) {
    for (const otlp::AnyValue& item : value.array->values) {
      if (!item.array) AddValue(item, label, labels);
    }
  } else if (value.pairs) {
    std::string json;
    otlp::AppendJson(json, *value.pairs);
    add_text(json);
  }
}

OtlpAttribute OtlpTables::Converted(std::string_view key, const otlp::AnyValue* value,
                                    StringId unit) {
  OtlpAttribute attribute = {.key = key};
  if (value == nullptr) return attribute;
  if (value->text) attribute.text = *value->text;
  if (value->text_index) attribute.text = texts_.View(*value->text_index);
  if (value->boolean) attribute.text = *value->boolean ? kTrue : kFalse;
  if (value->array) {
    for (const otlp::AnyValue& item : value->array->values) {
      if (item.text) attribute.texts.push_back(*item.text);
      if (item.text_index) attribute.texts.push_back(texts_.View(*item.text_index));
    }
  }
  AddValue(*value, {.key = builder_->Add(key), .unit = unit}, attribute.labels);
  return attribute;
}

OtlpAttribute OtlpTables::ToAttribute(const otlp::KeyValue& read) {
  const std::string_view key = read.key_index != 0 ? texts_.View(read.key_index) : read.key;
  return Converted(key, read.value ? &*read.value : nullptr, StringId{});
}

Status OtlpTables::ReadAttributes(Bytes dictionary, Bytes file) {
  otlp::TableCursor<otlp::KeyValueAndUnit> cursor(dictionary, file);
  while (true) {
    TRY_ASSIGN(const otlp::KeyValueAndUnit* const read, cursor.Next());
    if (read == nullptr) return {};
    if (attributes_.empty() && (read->key != 0 || read->unit != 0 || read->value)) {
      return WrongEntry("attribute", 0, kNotEmpty);
    }
    attributes_.push_back(Converted(texts_.View(read->key), read->value ? &*read->value : nullptr,
                                    builder_->Add(otlp::UnitOfUcum(texts_.View(read->unit)))));
    if (!texts_.ok()) return WrongEntry("attribute", attributes_.size() - 1, kNoSuchText);
  }
}

bool OtlpTables::IsKernelFrame(std::span<const Index> attributes) const {
  return TextOf(attributes, otlp::kFrameType) == otlp::kKernelFrame;
}

const OtlpAttribute* OtlpTables::FindByKey(std::span<const Index> attributes,
                                           std::string_view key) const {
  for (const Index index : attributes) {
    const OtlpAttribute* const attribute = FindAttribute(index);
    if (attribute != nullptr && attribute->key == key) return attribute;
  }
  return nullptr;
}

// The text of the attribute with this key; empty if there is none.
std::string_view OtlpTables::TextOf(std::span<const Index> attributes, std::string_view key) const {
  const OtlpAttribute* const attribute = FindByKey(attributes, key);
  return attribute == nullptr ? std::string_view() : attribute->text;
}

bool OtlpTables::FlagOf(std::span<const Index> attributes, std::string_view key) const {
  return TextOf(attributes, key) == kTrue;
}

// The type of a mapping is known before locations are read.
Status OtlpTables::FindKernelMappings(Bytes dictionary, Bytes file) {
  otlp::TableCursor<otlp::Location> cursor(dictionary, file);
  while (true) {
    TRY_ASSIGN(const otlp::Location* const read, cursor.Next());
    if (read == nullptr) return {};
    // A file has no more mappings than bytes.
    const auto mapping = static_cast<std::size_t>(read->mapping);
    if (read->mapping <= 0 || mapping >= dictionary.size() || !IsKernelFrame(read->attributes)) {
      continue;
    }
    if (mapping >= is_kernel_.size()) is_kernel_.resize(mapping + 1);
    is_kernel_[mapping] = true;
  }
}

Status OtlpTables::ReadMappings(Bytes dictionary, Bytes file, ImportReport& report) {
  std::vector<Mapping> mappings;
  otlp::TableCursor<otlp::Mapping> cursor(dictionary, file);
  while (true) {
    TRY_ASSIGN(const otlp::Mapping* const read, cursor.Next());
    if (read == nullptr) break;
    const std::size_t index = mappings.size();
    if (index == 0 && *read != otlp::Mapping{}) return WrongEntry("mapping", 0, kNotEmpty);
    if (!HasAttributes(read->attributes)) return WrongEntry("mapping", index, kNoSuchAttribute);
    if (read->memory_limit < read->memory_start && read->memory_limit != 0) {
      report.problems.push_back("mapping " + std::to_string(index) +
                                " ends before it starts: it is read as empty");
    }
    NoteLosses(read->attributes, report);
    std::string_view build_id;
    for (const std::string_view key :
         {otlp::kHtlHash, otlp::kGnuBuildId, otlp::kGoBuildId, otlp::kHtlHash}) {
      if (build_id.empty()) build_id = TextOf(read->attributes, key);
    }
    const bool is_kernel = index < is_kernel_.size() && is_kernel_[index];
    const MappingType type = is_kernel
                                 ? MappingType::kKernel
                                 : TypeOfMapping(texts_.View(read->filename), read->memory_start);
    mappings.push_back(
        {.filename = texts_.Add(read->filename),
         .build_id = builder_->Add(build_id),
         .start = read->memory_start,
         .limit = std::max(read->memory_start, read->memory_limit),
         .file_offset = read->file_offset,
         .type = type,
         .names = {.functions = FlagOf(read->attributes, otlp::kHasFunctions),
                   .filenames = FlagOf(read->attributes, otlp::kHasFilenames),
                   .line_numbers = FlagOf(read->attributes, otlp::kHasLineNumbers),
                   .inline_frames = FlagOf(read->attributes, otlp::kHasInlineFrames)}});
    if (!texts_.ok()) return WrongEntry("mapping", index, kNoSuchText);
  }
  // The first one is "no mapping".
  if (!mappings.empty()) mappings.erase(mappings.begin());
  mappings_ = AddMappings(mappings, *builder_);
  mappings_.insert(mappings_.begin(), MappingAt{});
  return {};
}

Status OtlpTables::ReadFunctions(Bytes dictionary, Bytes file) {
  otlp::TableCursor<otlp::Function> cursor(dictionary, file);
  while (true) {
    TRY_ASSIGN(const otlp::Function* const read, cursor.Next());
    if (read == nullptr) break;
    if (functions_.empty() && *read != otlp::Function{})
      return WrongEntry("function", 0, kNotEmpty);
    const Function function = {.name = texts_.Add(read->name),
                               .system_name = texts_.Add(read->system_name),
                               .filename = texts_.Add(read->filename),
                               .start_line = read->start_line};
    functions_.push_back(builder_->Add(function));
    if (!texts_.ok()) return WrongEntry("function", functions_.size() - 1, kNoSuchText);
  }
  if (functions_.empty()) functions_.push_back(builder_->Add(Function{}));
  return {};
}

MappingAt OtlpTables::MappingOf(const otlp::Location& read, bool is_kernel) {
  if (read.mapping != 0 || !is_kernel) return mappings_[static_cast<std::size_t>(read.mapping)];
  // A frame of the kernel without a mapping.
  if (read.address != 0) return {.id = AddHiddenKernel(*builder_)};
  return {.id = AddFoldedMapping(*builder_, MappingType::kKernel, {.functions = true})};
}

// A profile has no field for other attributes of mappings and locations, nor for a type of frames
// that is not known from the mapping or the source file.
void OtlpTables::NoteLosses(std::span<const Index> attributes, ImportReport& report) {
  constexpr std::string_view kKept[] = {
      otlp::kGnuBuildId,   otlp::kGoBuildId,      otlp::kIsFolded,        otlp::kHasFunctions,
      otlp::kHasFilenames, otlp::kHasLineNumbers, otlp::kHasInlineFrames,
  };
  constexpr std::string_view kKeptFrames[] = {otlp::kKernelFrame, "native", "go", "rust"};
  is_noted_.resize(attributes_.size());
  for (const Index index : attributes) {
    const OtlpAttribute* const attribute = FindAttribute(index);
    if (attribute == nullptr || is_noted_[static_cast<std::size_t>(index)]) continue;
    is_noted_[static_cast<std::size_t>(index)] = true;
    const bool is_type = attribute->key == otlp::kFrameType;
    const std::string lost =
        std::string(attribute->key) + (is_type ? " " + std::string(attribute->text) : "");
    const bool is_kept =
        is_type ? std::ranges::find(kKeptFrames, attribute->text) != std::end(kKeptFrames)
                : std::ranges::find(kKept, attribute->key) != std::end(kKept);
    if (is_kept || losses_.size() >= kMostLosses || !losses_.insert(lost).second) continue;
    report.notes.push_back("left out: the attribute " + lost + " of mappings or frames");
  }
}

Status OtlpTables::AddLocation(const otlp::Location& read, ImportReport& report) {
  const std::size_t index = locations_.size();
  if (index == 0 && read != otlp::Location{}) return WrongEntry("location", 0, kNotEmpty);
  if (Find(mappings_, read.mapping) == nullptr) {
    return WrongEntry("location", index, "no such mapping");
  }
  if (!HasAttributes(read.attributes)) return WrongEntry("location", index, kNoSuchAttribute);
  NoteLosses(read.attributes, report);
  lines_.clear();
  for (const otlp::Line& line : read.lines) {
    const FunctionId* const function = Find(functions_, line.function);
    if (function == nullptr) return WrongEntry("location", index, "no such function");
    lines_.push_back({.function = *function, .column = ToColumn(line.column), .number = line.line});
  }
  const MappingAt at = MappingOf(read, IsKernelFrame(read.attributes));
  const LocationId id =
      builder_->Add(Location{.mapping = at.id,
                             .is_folded = FlagOf(read.attributes, otlp::kIsFolded),
                             .offset = OffsetIn(at, read.address),
                             .lines = lines_});
  locations_.push_back({.id = id, .is_mapped = at.id != MappingId{}});
  return {};
}

Status OtlpTables::ReadLocations(Bytes dictionary, Bytes file, ImportReport& report) {
  otlp::TableCursor<otlp::Location> cursor(dictionary, file);
  while (true) {
    TRY_ASSIGN(const otlp::Location* const read, cursor.Next());
    if (read == nullptr) return {};
    TRY(AddLocation(*read, report));
  }
}

Status OtlpTables::ReadStacks(Bytes dictionary, Bytes file, std::uint64_t max_frames) {
  otlp::TableCursor<otlp::Stack> cursor(dictionary, file);
  while (true) {
    TRY_ASSIGN(const otlp::Stack* const read, cursor.Next());
    if (read == nullptr) break;
    if (stacks_.empty() && *read != otlp::Stack{}) return WrongEntry("stack", 0, kNotEmpty);
    OtlpStack stack = {.frames = read->locations.size()};
    if (stack.frames > max_frames) {
      return WrongEntry("stack", stacks_.size(),
                        "more frames so far than a file of this size can contain");
    }
    max_frames -= stack.frames;
    for (auto it = read->locations.rbegin(); it != read->locations.rend(); ++it) {
      const DictionaryLocation* const location = Find(locations_, *it);
      if (location == nullptr) return WrongEntry("stack", stacks_.size(), "no such location");
      stack.id = builder_->Push(stack.id, location->id);
      stack.unmapped += location->is_mapped ? 0 : 1;
    }
    stacks_.push_back(stack);
  }
  if (stacks_.empty()) stacks_.emplace_back();
  return {};
}

Status OtlpTables::ReadLinks(Bytes dictionary, Bytes file) {
  otlp::TableCursor<otlp::Link> cursor(dictionary, file);
  while (true) {
    TRY_ASSIGN(const otlp::Link* const read, cursor.Next());
    if (read == nullptr) break;
    links_.push_back({.trace_id = read->trace_id.bytes, .span_id = read->span_id.bytes});
  }
  if (links_.empty()) links_.emplace_back();
  return {};
}

}  // namespace perftape::convert
