// SPDX-License-Identifier: Apache-2.0
#include "convert/import/pprof_tables.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/pprof/message_cursor.h"

namespace perftape::convert {
namespace {

constexpr std::string_view kBadId = "its id is 0 or not unique";

struct MappingEntries {
  std::vector<std::uint64_t> ids;  // in the file
  std::vector<Mapping> mappings;
};

Result<MappingEntries> DecodeMappings(Bytes encoded, TextTable& texts, ImportReport& report) {
  MappingEntries entries;
  pprof::MessageCursor<pprof::Mapping> cursor(encoded);
  while (true) {
    TRY_ASSIGN(const pprof::Mapping* const read, cursor.Next());
    if (read == nullptr) return entries;
    const std::size_t index = entries.ids.size();
    if (read->memory_limit < read->memory_start) {
      report.problems.push_back("mapping " + std::to_string(index) +
                                " ends before it starts: it is read as empty");
    }
    const MappingType type = TypeOfMapping(texts.View(read->filename), read->memory_start);
    entries.ids.push_back(read->id);
    entries.mappings.push_back({.filename = texts.Add(read->filename),
                                .build_id = texts.Add(read->build_id),
                                .start = read->memory_start,
                                .limit = std::max(read->memory_start, read->memory_limit),
                                .file_offset = read->file_offset,
                                .type = type,
                                .names = {.functions = read->has_functions,
                                          .filenames = read->has_filenames,
                                          .line_numbers = read->has_line_numbers,
                                          .inline_frames = read->has_inline_frames}});
    if (!texts.ok()) return WrongEntry("mapping", index, kNoSuchText);
  }
}

Result<IdMap<MappingAt>> ReadMappings(Bytes encoded, TextTable& texts, ProfileBuilder& builder,
                                      ImportReport& report) {
  TRY_ASSIGN(MappingEntries entries, DecodeMappings(encoded, texts, report));
  const std::vector<MappingAt> added = AddMappings(entries.mappings, builder);
  IdMap<MappingAt> mappings;
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (!mappings.Add(entries.ids[i], added[i])) return WrongEntry("mapping", i, kBadId);
  }
  return mappings;
}

Result<IdMap<FunctionId>> ReadFunctions(Bytes encoded, TextTable& texts, ProfileBuilder& builder) {
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

}  // namespace

Result<TextTable> ReadTexts(Bytes encoded, std::size_t limit, ProfileBuilder& builder) {
  TRY_ASSIGN(std::vector<std::string_view> texts, pprof::DecodeTexts(encoded, limit));
  return TextTable::Of(std::move(texts), builder);
}

Result<PprofLocations> ReadLocations(Bytes encoded, TextTable& texts, ProfileBuilder& builder,
                                     ImportReport& report) {
  TRY_ASSIGN(const IdMap<MappingAt> mappings, ReadMappings(encoded, texts, builder, report));
  TRY_ASSIGN(const IdMap<FunctionId> functions, ReadFunctions(encoded, texts, builder));
  PprofLocations locations;
  std::vector<Line> lines;
  pprof::MessageCursor<pprof::Location> cursor(encoded);
  for (std::size_t i = 0;; ++i) {
    TRY_ASSIGN(const pprof::Location* const read, cursor.Next());
    if (read == nullptr) return locations;
    const MappingAt* mapping = mappings.Find(read->mapping_id);
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
    const MappingAt at = mapping == nullptr ? MappingAt{} : *mapping;
    const FileOffset offset = OffsetIn(at, read->address);
    Location location = {
        .mapping = at.id, .is_folded = read->is_folded, .offset = offset, .lines = lines};
    if (read->symbol_offset != 0) location.symbol_offset = read->symbol_offset - 1;
    const LocationId id = builder.Add(location);
    if (!locations.Add(read->id, {.id = id, .is_mapped = mapping != nullptr})) {
      return WrongEntry("location", i, kBadId);
    }
  }
}

}  // namespace perftape::convert
