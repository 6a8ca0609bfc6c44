// SPDX-License-Identifier: Apache-2.0
#include "record/events/tracepoint_format.h"

#include <linux/types.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "bpf/wire.h"

namespace perftape::record {
namespace {

// Returns the number after `key` in the line: "offset:" in "offset:8;\tsize:4;".
std::optional<std::uint16_t> NumberAfter(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view digits = line.substr(at + key.size());
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc()) return {};
  return number;
}

// "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;"
std::optional<TracepointField> ParseField(std::string_view line) {
  constexpr std::string_view kStart = "field:";
  line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
  if (!line.starts_with(kStart)) return {};
  line.remove_prefix(kStart.size());
  std::string_view declaration = line.substr(0, line.find(';'));
  const auto offset = NumberAfter(line, "offset:"), size = NumberAfter(line, "size:");
  if (!offset || !size || *offset + *size > WIRE_MAX_RAW) return {};

  TracepointField field{.offset = *offset,
                        .size = *size,
                        .is_signed = NumberAfter(line, "signed:").value_or(0) != 0,
                        .is_relative_location = declaration.starts_with("__rel_loc")};
  field.is_location = field.is_relative_location || declaration.starts_with("__data_loc");
  if (const std::size_t bracket = declaration.rfind('[');
      bracket != std::string_view::npos && declaration.ends_with(']')) {
    field.is_array = true;
    declaration = declaration.substr(0, bracket);
  }
  field.name = std::string(declaration.substr(declaration.find_last_of(" *") + 1));
  return field;
}

}  // namespace

std::uint16_t TracepointFormat::fixed_size() const {
  std::uint16_t size = 0;
  for (const TracepointField& field : fields) {
    size = std::max(size, static_cast<std::uint16_t>(field.offset + field.size));
  }
  return size;
}

const TracepointField* TracepointFormat::last_location() const {
  const TracepointField* last = nullptr;
  for (const TracepointField& field : fields) {
    if (field.is_location && (last == nullptr || field.offset > last->offset)) last = &field;
  }
  return last;
}

const TracepointField* TracepointFormat::Find(std::string_view field) const {
  const auto found = std::ranges::find(fields, field, &TracepointField::name);
  return found == fields.end() ? nullptr : &*found;
}

Result<TracepointFormat> ParseTracepointFormat(std::string_view text) {
  TracepointFormat format;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("ID: ")) format.id = NumberAfter(line, "ID: ").value_or(0);
    if (std::optional<TracepointField> field = ParseField(line)) {
      format.fields.push_back(*std::move(field));
    }
    if (line.starts_with("print fmt:")) break;
  }
  if (format.id == 0 || format.fields.empty()) {
    return Fail(ErrorCode::kCorrupt, "is not the format of a tracepoint");
  }
  return format;
}

}  // namespace perftape::record
