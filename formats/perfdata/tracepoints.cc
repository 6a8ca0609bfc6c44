// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/tracepoints.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "formats/base/text.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/tracing_files.h"

namespace perftape::perfdata {
namespace {

using Content = TracepointField::Content;
using Storage = TracepointField::Storage;

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return number;
}

// Returns the text before the first `end`, and removes both from `text`.
std::string_view SplitOff(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view first = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return first;
}

// A C declaration: "__data_loc char[] filename", "char prev_comm[16]", "const char * name".
struct Declaration {
  std::string_view name;
  std::string_view type;  // of an element, without "__data_loc" and "const"
  Storage storage = Storage::kInline;
  bool is_array = false;
  std::string_view count;  // "16"; empty if it is unknown
};

// Removes a word from the start of a type.
bool RemoveWord(std::string_view& type, std::string_view word) {
  const std::string_view rest = type.substr(std::min(word.size(), type.size()));
  if (!type.starts_with(word) || !(rest.starts_with(' ') || rest.starts_with('\t'))) return false;
  type = Trimmed(rest);
  return true;
}

// Removes "[16]" from the end of a declarator or type.
void RemoveBrackets(std::string_view& text, Declaration& declaration) {
  const std::size_t open = text.rfind('[');
  if (!text.ends_with(']') || open == std::string_view::npos) return;
  declaration.is_array = true;
  declaration.count = Trimmed(text.substr(open + 1, text.size() - open - 2));
  text = Trimmed(text.substr(0, open));
}

Declaration ParseDeclaration(std::string_view text) {
  Declaration declaration;
  text = Trimmed(text);
  RemoveBrackets(text, declaration);
  const std::size_t before_name = text.find_last_of(" \t*");
  if (before_name == std::string_view::npos) return declaration;
  declaration.name = text.substr(before_name + 1);
  declaration.type = Trimmed(text.substr(0, before_name + 1));
  if (RemoveWord(declaration.type, "__data_loc")) declaration.storage = Storage::kDataLocation;
  if (RemoveWord(declaration.type, "__rel_loc")) declaration.storage = Storage::kRelativeLocation;
  RemoveWord(declaration.type, "const");
  RemoveBrackets(declaration.type, declaration);
  return declaration;
}

bool IsIntegerSize(std::uint64_t size) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

// Returns the size of an array's elements. It is that of bytes if the type is unknown.
std::uint8_t ElementSizeOf(const Declaration& declaration, std::uint32_t size,
                           const TracingMachine& machine) {
  const std::optional<std::uint32_t> count = ParseNumber<std::uint32_t>(declaration.count);
  if (declaration.storage == Storage::kInline && count && *count > 0 && size % *count == 0 &&
      IsIntegerSize(size / *count)) {
    return static_cast<std::uint8_t>(size / *count);
  }
  constexpr std::pair<std::string_view, std::uint8_t> kSizes[] = {
      {"u16", 2},   {"s16", 2},      {"short", 2},     {"unsigned short", 2},
      {"u32", 4},   {"s32", 4},      {"int", 4},       {"unsigned int", 4},
      {"u64", 8},   {"s64", 8},      {"long long", 8}, {"unsigned long long", 8},
      {"__u16", 2}, {"__u32", 4},    {"__u64", 8},     {"unsigned", 4},
      {"pid_t", 4}, {"uint16_t", 2}, {"uint32_t", 4},  {"uint64_t", 8},
  };
  for (const auto& [type, bytes] : kSizes) {
    if (declaration.type == type) return bytes;
  }
  const bool is_word = declaration.type == "long" || declaration.type == "unsigned long" ||
                       declaration.type.ends_with('*');
  return is_word && IsIntegerSize(machine.long_size) ? machine.long_size : std::uint8_t{1};
}

Content ContentOf(const Declaration& declaration, std::uint32_t size, bool is_signed) {
  if (declaration.is_array) return declaration.type == "char" ? Content::kText : Content::kArray;
  if (!IsIntegerSize(size)) return Content::kArray;
  if (declaration.type.ends_with('*')) return Content::kHex;
  if (is_signed) return Content::kSigned;
  const bool is_long = declaration.type.find("long") != std::string_view::npos;
  return is_long ? Content::kHex : Content::kUnsigned;
}

// Parses "field:int common_pid;\toffset:4;\tsize:4;\tsigned:1;". Linux before 2.6.33 writes no
// "signed".
std::optional<TracepointField> ParseField(std::string_view line, const TracingMachine& machine) {
  constexpr std::string_view kKey = "field:";
  line = Trimmed(line);
  if (!line.starts_with(kKey)) return {};
  line.remove_prefix(kKey.size());
  const Declaration declaration = ParseDeclaration(SplitOff(line, ';'));
  std::optional<std::uint32_t> offset, size;
  bool is_signed = false;
  while (!line.empty()) {
    std::string_view value = Trimmed(SplitOff(line, ';'));
    const std::string_view key = SplitOff(value, ':');
    if (key == "offset") offset = ParseNumber<std::uint32_t>(value);
    if (key == "size") size = ParseNumber<std::uint32_t>(value);
    if (key == "signed") is_signed = value == "1";
  }
  if (declaration.name.empty() || declaration.type.empty() || !offset || !size) return {};
  return TracepointField{.name = std::string(declaration.name),
                         .offset = *offset,
                         .size = *size,
                         .content = ContentOf(declaration, *size, is_signed),
                         .storage = declaration.storage,
                         .element_size = ElementSizeOf(declaration, *size, machine)};
}

// Returns an integer of 1, 2, 4 or 8 bytes; nothing for another size.
std::optional<std::uint64_t> NumberAt(Bytes bytes, std::endian order) {
  switch (bytes.size()) {
    case 1:
      return std::to_integer<std::uint64_t>(bytes[0]);
    case 2:
      return LoadFixed<std::uint16_t>(bytes.data(), order);
    case 4:
      return LoadFixed<std::uint32_t>(bytes.data(), order);
    case 8:
      return LoadFixed<std::uint64_t>(bytes.data(), order);
    default:
      return {};
  }
}

std::optional<Bytes> RangeOf(Bytes raw, std::uint64_t offset, std::uint64_t size) {
  if (offset > raw.size() || size > raw.size() - offset) return {};
  return raw.subspan(offset, size);
}

// Returns the bytes of a field. For a dynamic array, these are at the location in the field.
std::optional<Bytes> BytesOf(const TracepointField& field, Bytes raw, std::endian order) {
  const std::optional<Bytes> inline_bytes = RangeOf(raw, field.offset, field.size);
  if (!inline_bytes || field.storage == Storage::kInline) return inline_bytes;
  const std::optional<std::uint64_t> location = NumberAt(*inline_bytes, order);
  if (!location) return {};
  const std::uint64_t offset = *location & 0xffff, size = *location >> 16 & 0xffff;
  if (field.storage == Storage::kDataLocation) return RangeOf(raw, offset, size);
  return RangeOf(raw, std::uint64_t{field.offset} + field.size + offset, size);
}

std::uint64_t SignExtended(std::uint64_t number, std::size_t size) {
  const unsigned unused_bits = static_cast<unsigned>(64 - 8 * size);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number << unused_bits) >>
                                    unused_bits);
}

}  // namespace

const TracepointField* TracepointFormat::Find(std::string_view field_name) const {
  const auto found = std::ranges::find(fields, field_name, &TracepointField::name);
  return found == fields.end() ? nullptr : &*found;
}

std::uint64_t TracepointFormat::fixed_size() const {
  std::uint64_t size = 0;
  for (const TracepointField& field : fields) {
    size = std::max(size, std::uint64_t{field.offset} + field.size);
  }
  return size;
}

const TracepointField* TracepointFormat::last_location() const {
  const TracepointField* last = nullptr;
  for (const TracepointField& field : fields) {
    if (field.storage == Storage::kInline) continue;
    if (last == nullptr || field.offset > last->offset) last = &field;
  }
  return last;
}

std::optional<TracepointFormat> ParseTracepointFormat(std::string_view text,
                                                      const TracingMachine& machine) {
  constexpr std::string_view kPrintFormat = "print fmt:";
  TracepointFormat format{.name = {}, .order = machine.order, .fields = {}};
  std::optional<std::uint64_t> id;
  while (!text.empty()) {
    const std::string_view line = SplitOff(text, '\n');
    if (line.starts_with("name: ")) {
      format.name = line.substr(6);
    } else if (line.starts_with("ID: ")) {
      id = ParseNumber<std::uint64_t>(line.substr(4));
    } else if (line.starts_with(kPrintFormat)) {
      format.print_format = line.substr(kPrintFormat.size());
      break;
    } else if (std::optional<TracepointField> field = ParseField(line, machine)) {
      format.fields.push_back(*std::move(field));
    }
  }
  if (!id || format.name.empty()) return {};
  format.id = *id;
  return format;
}

Bytes TracingDataIn(const RecordView& record) {
  if (record.type != RecordType::kHeaderTracingData) return {};
  if (!record.appended.empty()) return record.appended;
  const Result<HeaderTracingData> inside = Decode<HeaderTracingData>(record, SampleFormat{});
  if (!inside) return {};
  return inside->data.first(std::min<std::size_t>(inside->size, inside->data.size()));
}

Tracepoints ReadTracepoints(Bytes tracing_data) {
  // The section contains its own byte order.
  const Result<FeatureValue> value =
      DecodeFeature(FeatureBit::kTracingData, tracing_data, std::endian::native, 0);
  const auto* head = value ? std::get_if<TracingData>(&*value) : nullptr;
  if (head == nullptr) return {};
  const TracingMachine machine{.order = head->order, .long_size = head->long_size};
  const DecodedTracingFiles decoded = DecodeTracingFiles(head->formats, head->order);
  Tracepoints tracepoints;
  for (const auto& [subsystem, formats] : decoded.files.subsystems) {
    for (const std::string_view text : formats) {
      std::optional<TracepointFormat> format = ParseTracepointFormat(text, machine);
      if (!format) continue;
      format->name = std::string(subsystem).append(1, ':').append(format->name);
      tracepoints.try_emplace(format->id,
                              std::make_shared<const TracepointFormat>(*std::move(format)));
    }
  }
  return tracepoints;
}

std::vector<std::string> FieldValue::Elements() const {
  std::vector<std::string> elements;
  for (std::size_t at = 0; at + element_size <= array.size(); at += element_size) {
    const auto element = NumberAt(array.subspan(at, element_size), order);
    elements.push_back(fmt::format("{:#x}", element.value_or(0)));
  }
  return elements;
}

std::optional<FieldValue> ValueOf(const TracepointField& field, Bytes raw, std::endian order) {
  const std::optional<Bytes> bytes = BytesOf(field, raw, order);
  if (!bytes) return {};
  FieldValue value{.content = field.content, .element_size = field.element_size, .order = order};
  if (field.content == Content::kText) {
    value.text = AsText(*bytes).substr(0, AsText(*bytes).find('\0'));
  } else if (field.content == Content::kArray) {
    value.array = *bytes;
  } else {
    const std::optional<std::uint64_t> number = NumberAt(*bytes, order);
    if (!number) return {};
    value.number =
        field.content == Content::kSigned ? SignExtended(*number, bytes->size()) : *number;
  }
  return value;
}

std::string TextOf(const FieldValue& value) {
  switch (value.content) {
    case Content::kSigned:
      return fmt::format("{}", static_cast<std::int64_t>(value.number));
    case Content::kUnsigned:
      return fmt::format("{}", value.number);
    case Content::kHex:
      return fmt::format("{:#x}", value.number);
    case Content::kText:
      return std::string(value.text);
    case Content::kArray:
      break;
  }
  return fmt::format("{{{}}}", Joined(value.Elements(), ","));
}

}  // namespace perftape::perfdata
