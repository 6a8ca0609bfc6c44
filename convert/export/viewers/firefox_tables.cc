// SPDX-License-Identifier: Apache-2.0
#include "convert/export/viewers/firefox_tables.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "convert/export/viewers/text_output.h"
#include "convert/frames/frame_table.h"
#include "convert/model/mappings_without_files.h"
#include "convert/model/profile.h"
#include "formats/base/unknown_name.h"
#include "formats/folded/folded.h"
#include "formats/json/string.h"

namespace perftape::viewers {
namespace {

using convert::Location;
using convert::LocationId;
using convert::MappingId;
using convert::StackId;
using convert::TextId;

bool IsHexDigit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

char UpperCase(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// JavaScript reads larger numbers as a neighbouring one.
constexpr std::uint64_t kLargestExactNumber = (std::uint64_t{1} << 53U) - 1;

}  // namespace

std::string BreakpadIdOf(std::string_view build_id) {
  // The bytes of a GUID's first three fields, of 4, 2 and 2 bytes, are reversed.
  constexpr std::size_t kOrder[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  if (build_id.empty() || !std::ranges::all_of(build_id, IsHexDigit)) return {};
  std::string digits(build_id.substr(0, 2 * std::size(kOrder)));
  digits.resize(2 * std::size(kOrder), '0');
  std::string id;
  for (const std::size_t byte : kOrder) {
    id += UpperCase(digits[2 * byte]);
    id += UpperCase(digits[2 * byte + 1]);
  }
  return id + '0';
}

void AppendFirefoxLib(std::string& out, const FirefoxLib& lib) {
  const std::string_view name = convert::BaseName(lib.path);
  const auto append = [&out](std::string_view key, std::string_view text) {
    out += key;
    json::AppendString(out, text);
  };
  append("{\"arch\":", lib.arch);
  append(",\"name\":", name);
  append(",\"path\":", lib.path);
  append(",\"debugName\":", name);
  append(",\"debugPath\":", lib.path);
  append(",\"breakpadId\":", BreakpadIdOf(lib.build_id));
  if (lib.build_id.empty()) {
    out += ",\"codeId\":null}";
    return;
  }
  append(",\"codeId\":", lib.build_id);
  out += '}';
}

FirefoxTables::FirefoxTables(const convert::Profile& profile, const convert::Ranks& ranks,
                             const std::vector<bool>& is_used, convert::FrameTexts& texts)
    : profile_(profile),
      ranks_(ranks),
      texts_(texts),
      of_mappings_(profile.mappings().size(), kNone),
      of_locations_(profile.locations().size()),
      nodes_(profile.stacks().size(), kNone) {
  AddLibs();
  std::vector<bool> stacks = is_used;
  const std::vector<bool> locations = UsedLocations(stacks);
  for (const std::uint32_t i : convert::InOrder(ranks.locations)) {
    if (locations[i]) AddLocation(LocationId{i});
  }
  AddStacks(stacks);
}

// Adds the callers of used stacks to `stacks`.
std::vector<bool> FirefoxTables::UsedLocations(std::vector<bool>& stacks) const {
  std::vector<bool> locations(profile_.locations().size());
  for (std::size_t i = stacks.size() - 1; i > 0; --i) {  // callees first
    if (!stacks[i]) continue;
    const convert::Stack& stack = profile_.stacks()[i];
    if (stack.caller != StackId{}) stacks[stack.caller.index] = true;
    locations[stack.leaf.index] = true;
  }
  return locations;
}

// A file is one library, whatever ranges of it are mapped.
void FirefoxTables::AddLibs() {
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> ids;
  for (const std::uint32_t i : convert::InOrder(ranks_.mappings)) {
    const convert::Mapping& mapping = profile_.mappings()[i];
    const std::string_view path = profile_.text(mapping.filename);
    if (path.empty() || convert::IsOfFolded(profile_, mapping)) continue;
    const std::string_view build_id = profile_.text(mapping.build_id);
    const auto [known, is_new] =
        ids.emplace(std::pair(path, build_id), static_cast<std::uint32_t>(libs_.size()));
    of_mappings_[i] = known->second;
    if (!is_new) continue;
    libs_.push_back({.path = path, .build_id = build_id});
    lib_names_.push_back(texts_.Intern(convert::BaseName(path)));
  }
}

void FirefoxTables::AddLocation(LocationId id) {
  const Location& location = profile_[id];
  const std::span<const TextId> found = texts_.Of(id);
  const std::vector<TextId> names(found.begin(), found.end());  // root first
  const std::uint32_t lib = of_mappings_[location.mapping.index];
  Frame frame = {.address = AddressOf(location)};
  if (!location.lines.empty() && lib != kNone && frame.address != kNoAddress) {
    frame.native_symbol =
        NativeSymbolOf({.name = names.front(), .lib = lib, .address = frame.address});
  }
  const auto begin = static_cast<std::uint32_t>(frames_.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t count = location.lines.size();
    frame.depth = static_cast<std::uint32_t>(i);
    AddFrame(location, frame, names[i], count == 0 ? nullptr : &location.lines[count - 1 - i]);
  }
  of_locations_[id.index] = {begin, static_cast<std::uint32_t>(frames_.size())};
}

void FirefoxTables::AddFrame(const Location& location, Frame frame, TextId name,
                             const convert::Line* line) {
  Function function = {.name = name, .lib = of_mappings_[location.mapping.index]};
  if (line != nullptr) {
    const convert::Function& its = profile_[line->function];
    function.source = SourceOf(profile_.text(its.filename));
    function.line = its.start_line;
    frame.line = line->number;
    frame.column = line->column;
  }
  frame.function = FunctionOf(function);
  frame.category = CategoryOf(location, name);
  frames_.push_back(frame);
}

// The order of ranks has callers before their callees. A parent after its child would make the
// reader hang.
void FirefoxTables::AddStacks(const std::vector<bool>& stacks) {
  for (const std::uint32_t i : convert::InOrder(ranks_.stacks)) {
    if (i == 0 || !stacks[i]) continue;
    const convert::Stack& stack = profile_.stacks()[i];
    std::uint32_t node = nodes_[stack.caller.index];
    const auto [begin, end] = of_locations_[stack.leaf.index];
    for (std::uint32_t frame = begin; frame < end; ++frame) {
      stacks_.push_back({.frame = frame, .prefix = node});
      node = static_cast<std::uint32_t>(stacks_.size() - 1);
    }
    nodes_[i] = node;
  }
  if (!stacks[0]) return;
  // Samples without frames have one frame, as in folded stacks. StackId 0 is the caller of all
  // roots, so it gets its node last.
  Frame frame;
  frame.function = FunctionOf({.name = texts_.Intern(kUnknownName)});
  stacks_.push_back({.frame = static_cast<std::uint32_t>(frames_.size())});
  frames_.push_back(frame);
  nodes_[0] = static_cast<std::uint32_t>(stacks_.size() - 1);
}

// Returns the offset in the file. The addresses of the kernel are relative to its mapping.
std::uint64_t FirefoxTables::AddressOf(const Location& location) const {
  const convert::Mapping& mapping = profile_[location.mapping];
  if (of_mappings_[location.mapping.index] == kNone) return kNoAddress;
  std::uint64_t address = location.offset.value;
  if (address > kLargestExactNumber) address -= mapping.file_offset;
  return address > kLargestExactNumber ? kNoAddress : address;
}

FirefoxCategory FirefoxTables::CategoryOf(const Location& location, TextId name) const {
  if (profile_[location.mapping].type == convert::MappingType::kKernel ||
      (of_mappings_[location.mapping.index] == kNone &&
       texts_[name].ends_with(folded::kKernelMark))) {
    return FirefoxCategory::kKernel;
  }
  const bool is_known = location.mapping != MappingId{} || !location.lines.empty();
  return is_known ? FirefoxCategory::kUser : FirefoxCategory::kOther;
}

std::uint32_t FirefoxTables::FunctionOf(const Function& function) {
  const auto [known, is_new] =
      function_ids_.emplace(std::tuple(function.name, function.lib, function.source),
                            static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back(function);
  std::int64_t& line = functions_[known->second].line;
  if (function.line > 0 && (line <= 0 || function.line < line)) line = function.line;
  return known->second;
}

std::uint32_t FirefoxTables::NativeSymbolOf(const NativeSymbol& symbol) {
  const auto [known, is_new] = native_symbol_ids_.emplace(
      std::pair(symbol.name, symbol.lib), static_cast<std::uint32_t>(native_symbols_.size()));
  if (is_new) native_symbols_.push_back(symbol);
  std::uint64_t& address = native_symbols_[known->second].address;
  address = std::min(address, symbol.address);
  return known->second;
}

std::uint32_t FirefoxTables::SourceOf(std::string_view filename) {
  if (filename.empty()) return kNone;
  const auto [known, is_new] =
      source_ids_.emplace(texts_.Intern(filename), static_cast<std::uint32_t>(sources_.size()));
  if (is_new) sources_.push_back(known->first);
  return known->second;
}

}  // namespace perftape::viewers
