// SPDX-License-Identifier: Apache-2.0
#include "convert/import/dictionary_tables.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "formats/base/addresses.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {
namespace {

constexpr std::uint64_t kMaxFramesPerByte = 4;
constexpr std::uint64_t kAlwaysAllowedFrames = std::uint64_t{2} << 20;
constexpr std::uint64_t kMaxTextsPerByte = 1;
constexpr std::uint64_t kAlwaysAllowedTexts = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxLabelsPerByte = 4;
constexpr std::uint64_t kAlwaysAllowedLabels = std::uint64_t{2} << 20;

// The fields that make mappings equal; the caller adds the address.
auto KeyOf(const Mapping& it) {
  return std::tuple(it.filename, it.build_id, it.file_offset, it.limit - it.start, it.type);
}

}  // namespace

DictionaryLimits LimitsOf(Bytes file) {
  return {.frames = std::max(kAlwaysAllowedFrames, file.size() * kMaxFramesPerByte),
          .texts = std::max(kAlwaysAllowedTexts, file.size() * kMaxTextsPerByte),
          .labels = std::max(kAlwaysAllowedLabels, file.size() * kMaxLabelsPerByte)};
}

TextTable::TextTable(std::vector<std::string_view> texts, ProfileBuilder& builder)
    : texts_(std::move(texts)), ids_(texts_.size()), builder_(&builder) {}

Result<TextTable> TextTable::Of(std::vector<std::string_view> texts, ProfileBuilder& builder) {
  if (texts.empty() || !texts.front().empty()) {
    return Fail(ErrorCode::kCorrupt, "the string table does not begin with the empty string");
  }
  return TextTable(std::move(texts), builder);
}

bool TextTable::begins_again() const {
  return std::ranges::count(texts_, std::string_view()) > 1;
}

std::string_view TextTable::View(std::int64_t index) {
  const auto position = static_cast<std::uint64_t>(index);
  if (position < texts_.size()) return texts_[position];
  ok_ = false;
  return "";
}

StringId TextTable::Add(std::int64_t index) {
  const auto position = static_cast<std::uint64_t>(index);
  if (position >= texts_.size()) {
    ok_ = false;
    return {};
  }
  std::optional<StringId>& known = ids_[position];
  if (!known) known = builder_->Add(texts_[position]);
  return *known;
}

std::vector<MappingAt> AddMappings(std::vector<Mapping>& mappings, ProfileBuilder& builder) {
  std::vector<Mapping*> sorted;
  for (Mapping& mapping : mappings) sorted.push_back(&mapping);
  std::ranges::sort(sorted, {}, [](const Mapping* it) { return std::pair(KeyOf(*it), it->start); });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // A mapping that equals the Profile's empty mapping must not become "no mapping".
    sorted[i]->instance = KeyOf(*sorted[i]) == KeyOf(Mapping{}) ? 1 : 0;
    if (i == 0 || KeyOf(*sorted[i]) != KeyOf(*sorted[i - 1])) continue;
    sorted[i]->instance = sorted[i - 1]->instance;
    if (sorted[i]->start != sorted[i - 1]->start) ++sorted[i]->instance;
  }
  std::vector<MappingAt> added;
  for (const Mapping& mapping : mappings) {
    added.push_back({builder.Add(mapping), mapping.start, mapping.file_offset});
  }
  return added;
}

FileOffset OffsetIn(const MappingAt& mapping, std::uint64_t address) {
  return {address - mapping.start + mapping.file_offset};
}

std::uint32_t ToColumn(std::int64_t column) {
  const bool fits = 0 < column && column <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(column) : 0;
}

std::unexpected<Error> WrongEntry(std::string_view table, std::size_t index,
                                  std::string_view what) {
  return Fail(ErrorCode::kCorrupt,
              std::string(table) + " " + std::to_string(index) + ": " + std::string(what));
}

MappingType TypeOfMapping(std::string_view filename, std::uint64_t start) {
  switch (perfdata::SourceOf(filename)) {
    case perfdata::MappingSource::kKernel:
    case perfdata::MappingSource::kGuestKernel:
    case perfdata::MappingSource::kModule:
      return MappingType::kKernel;
    default:
      break;
  }
  // Mappings of a process, such as [vsyscall], may be in the upper half.
  const bool is_in_kernel = IsInKernelHalf(start) && !filename.starts_with('[');
  return is_in_kernel ? MappingType::kKernel : MappingType::kUser;
}

}  // namespace perftape::convert
