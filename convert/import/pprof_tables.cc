// SPDX-License-Identifier: Apache-2.0
#include "convert/import/pprof_tables.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "formats/base/addresses.h"
#include "formats/perfdata/mapping_name.h"
#include "formats/pprof/message_cursor.h"

namespace perftape::convert {
namespace {

constexpr std::string_view kNoSuchText = "string out of range";
constexpr std::string_view kBadId = "its id is 0 or not unique";

// A mapping at one address. The start of the profile's mapping is the lowest of all mappings with
// its id.
struct PprofMapping {
  MappingId id = {};
  std::uint64_t start = 0, file_offset = 0;
};

struct MappingEntry {
  std::uint64_t pprof_id = 0;
  Mapping mapping = {};
};

// The fields that make mappings equal; the caller adds the address.
auto KeyOf(const Mapping& it) {
  return std::tuple(it.filename, it.build_id, it.file_offset, it.limit - it.start, it.type);
}

Result<std::vector<MappingEntry>> DecodeMappings(Bytes encoded, PprofTexts& texts,
                                                 ImportReport& report) {
  std::vector<MappingEntry> entries;
  pprof::MessageCursor<pprof::Mapping> cursor(encoded);
  while (true) {
    TRY_ASSIGN(const pprof::Mapping* const read, cursor.Next());
    if (read == nullptr) return entries;
    if (read->memory_limit < read->memory_start) {
      report.problems.push_back("mapping " + std::to_string(entries.size()) +
                                " ends before it starts: it is read as empty");
    }
    const MappingType type = TypeOfMapping(texts.View(read->filename), read->memory_start);
    entries.push_back({.pprof_id = read->id,
                       .mapping = {.filename = texts.Add(read->filename),
                                   .build_id = texts.Add(read->build_id),
                                   .start = read->memory_start,
                                   .limit = std::max(read->memory_start, read->memory_limit),
                                   .file_offset = read->file_offset,
                                   .type = type,
                                   .names = {.functions = read->has_functions,
                                             .filenames = read->has_filenames,
                                             .line_numbers = read->has_line_numbers,
                                             .inline_frames = read->has_inline_frames}}});
    if (!texts.ok()) return WrongEntry("mapping", entries.size() - 1, kNoSuchText);
  }
}

Result<IdMap<PprofMapping>> ReadMappings(Bytes encoded, PprofTexts& texts, ProfileBuilder& builder,
                                         ImportReport& report) {
  TRY_ASSIGN(std::vector<MappingEntry> entries, DecodeMappings(encoded, texts, report));
  std::vector<Mapping*> sorted;
  for (MappingEntry& entry : entries) sorted.push_back(&entry.mapping);
  std::ranges::sort(sorted, {}, [](const Mapping* it) { return std::pair(KeyOf(*it), it->start); });
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    // A mapping that equals the Profile's empty mapping must not become "no mapping".
    sorted[i]->instance = KeyOf(*sorted[i]) == KeyOf(Mapping{}) ? 1 : 0;
    if (i == 0 || KeyOf(*sorted[i]) != KeyOf(*sorted[i - 1])) continue;
    sorted[i]->instance = sorted[i - 1]->instance;
    if (sorted[i]->start != sorted[i - 1]->start) ++sorted[i]->instance;
  }
  IdMap<PprofMapping> mappings;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Mapping& mapping = entries[i].mapping;
    const PprofMapping added = {builder.Add(mapping), mapping.start, mapping.file_offset};
    if (!mappings.Add(entries[i].pprof_id, added)) return WrongEntry("mapping", i, kBadId);
  }
  return mappings;
}

Result<IdMap<FunctionId>> ReadFunctions(Bytes encoded, PprofTexts& texts, ProfileBuilder& builder) {
  IdMap<FunctionId> functions;
  pprof::MessageCursor<pprof::Function> cursor(encoded);
  for (std::size_t i = 0;; ++i) {
    TRY_ASSIGN(const pprof::Function* const read, cursor.Next());
    if (read == nullptr) return functions;
    const Function function = {.name = texts.Add(read->name),
                               .system_name = texts.Add(read->system_name),
                               .filename = texts.Add(read->filename),
                               .start_line = read->start_line};
    if (!texts.ok()) return WrongEntry("function", i, kNoSuchText);
    if (!functions.Add(read->id, builder.Add(function))) {
      return WrongEntry("function", i, kBadId);
    }
  }
}

// A column that does not fit is unknown: 0.
std::uint32_t ToColumn(std::int64_t column) {
  const bool fits = 0 < column && column <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(column) : 0;
}

}  // namespace

PprofTexts::PprofTexts(std::vector<std::string_view> texts, ProfileBuilder& builder)
    : texts_(std::move(texts)), ids_(texts_.size()), builder_(&builder) {}

Result<PprofTexts> PprofTexts::Read(Bytes encoded, std::size_t limit, ProfileBuilder& builder) {
  TRY_ASSIGN(std::vector<std::string_view> texts, pprof::DecodeTexts(encoded, limit));
  if (texts.empty() || !texts.front().empty()) {
    return Fail(ErrorCode::kCorrupt, "the string table does not begin with the empty string");
  }
  return PprofTexts(std::move(texts), builder);
}

bool PprofTexts::begins_again() const {
  return std::ranges::count(texts_, std::string_view()) > 1;
}

std::string_view PprofTexts::View(pprof::StringIndex index) {
  const auto position = static_cast<std::uint64_t>(index);
  if (position < texts_.size()) return texts_[position];
  ok_ = false;
  return "";
}

StringId PprofTexts::Add(pprof::StringIndex index) {
  const auto position = static_cast<std::uint64_t>(index);
  if (position >= texts_.size()) {
    ok_ = false;
    return {};
  }
  std::optional<StringId>& known = ids_[position];
  if (!known) known = builder_->Add(texts_[position]);
  return *known;
}

Result<PprofLocations> ReadLocations(Bytes encoded, PprofTexts& texts, ProfileBuilder& builder,
                                     ImportReport& report) {
  TRY_ASSIGN(const IdMap<PprofMapping> mappings, ReadMappings(encoded, texts, builder, report));
  TRY_ASSIGN(const IdMap<FunctionId> functions, ReadFunctions(encoded, texts, builder));
  PprofLocations locations;
  std::vector<Line> lines;
  pprof::MessageCursor<pprof::Location> cursor(encoded);
  for (std::size_t i = 0;; ++i) {
    TRY_ASSIGN(const pprof::Location* const read, cursor.Next());
    if (read == nullptr) return locations;
    const PprofMapping* mapping = mappings.Find(read->mapping_id);
    if (mapping == nullptr && read->mapping_id != 0) {
      return WrongEntry("location", i, "no such mapping");
    }
    lines.clear();
    for (const pprof::Line& line : read->lines) {
      const FunctionId* function = functions.Find(line.function_id);
      if (function == nullptr) return WrongEntry("location", i, "no such function");
      lines.push_back(
          {.function = *function, .column = ToColumn(line.column), .number = line.line});
    }
    const PprofMapping at = mapping == nullptr ? PprofMapping{} : *mapping;
    // Modulo 2^64: an address may be 0 if only names are known.
    const FileOffset offset = {read->address - at.start + at.file_offset};
    const LocationId id = builder.Add(
        Location{.mapping = at.id, .is_folded = read->is_folded, .offset = offset, .lines = lines});
    if (!locations.Add(read->id, {.id = id, .is_mapped = mapping != nullptr})) {
      return WrongEntry("location", i, kBadId);
    }
  }
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
