// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/entry_scopes.h"

#include <algorithm>
#include <iterator>

namespace perftape::dwarf {
namespace {

// Entries nest as deep as the blocks of a source file.
constexpr std::size_t kDeepestEntry = 4096;
constexpr std::size_t kMostEntries = std::size_t{4} << 20;

bool NamesItsScope(const Abbreviation& entry) {
  return entry.is_scope() || entry.is_type() || entry.tag == DW_TAG_namespace ||
         entry.tag == DW_TAG_module || entry.tag == DW_TAG_interface_type;
}

void SkipAttributes(const Unit& unit, const Abbreviation& entry, Cursor& at) {
  if (entry.size) return at.Skip(*entry.size);
  for (const PlanStep& step : unit.abbreviations.plan(entry)) {
    at.Skip(step.skip);
    if (step.form != 0) ReadForm(at, step.form, step.constant, unit.header.encoding);
  }
}

// One level of the tree of entries.
struct Level {
  std::uint32_t enclosing = EnclosingEntry::kNoParent;  // of the entries on it
  bool ends_enclosing = false;                          // whether `enclosing` ends with the level
};

}  // namespace

std::vector<EnclosingEntry> ReadEnclosingEntries(const Unit& unit) {
  std::vector<EnclosingEntry> entries;
  std::vector<Level> levels = {{}};
  Cursor at = unit.InfoAt(unit.header.first_die);
  while (at.ok() && at.remaining() != 0 && entries.size() < kMostEntries) {
    const std::uint64_t die = at.offset();
    const std::uint64_t code = at.Uleb();
    if (code == 0) {
      if (levels.back().ends_enclosing) entries[levels.back().enclosing].end = at.offset();
      levels.pop_back();
      if (levels.size() <= 1) break;
      continue;
    }
    const Abbreviation* entry = unit.abbreviations.Find(code);
    if (entry == nullptr) break;
    SkipAttributes(unit, *entry, at);
    if (!entry->has_children) continue;
    if (levels.size() >= kDeepestEntry) break;
    Level level = {.enclosing = levels.back().enclosing};
    if (NamesItsScope(*entry)) {
      entries.push_back(
          {.die = die, .end = unit.header.end, .parent = level.enclosing, .tag = entry->tag});
      level = {.enclosing = static_cast<std::uint32_t>(entries.size() - 1), .ends_enclosing = true};
    }
    levels.push_back(level);
  }
  return entries;
}

std::optional<std::uint32_t> FindEnclosing(std::span<const EnclosingEntry> entries,
                                           std::uint64_t die) {
  const auto after = std::ranges::lower_bound(entries, die, {}, &EnclosingEntry::die);
  if (after == entries.begin()) return std::nullopt;
  auto index = static_cast<std::uint32_t>(std::prev(after) - entries.begin());
  while (entries[index].end <= die) {
    if (entries[index].parent == EnclosingEntry::kNoParent) return std::nullopt;
    index = entries[index].parent;
  }
  return index;
}

}  // namespace perftape::dwarf
