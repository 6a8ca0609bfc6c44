// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/table_store.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace perftape::record {
namespace {

using unwind::Row;
using unwind::Rule;

std::uint32_t PagesOf(const unwind::Table& table) {
  return table.empty() ? 0 : (table.rows().back().pc >> WIRE_UNWIND_PAGE_BITS) + 1;
}

std::uint32_t CellsOf(const unwind::Table& table) {
  return PagesOf(table) + static_cast<std::uint32_t>(table.rows().size());
}

template <class Word>
void Publish(Word& word, Word value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

TableStore::TableStore(const UnwindMaps& maps)
    : maps_(maps), arena_(static_cast<std::uint32_t>(maps.cells.size())), rules_(maps.rules) {}

std::optional<std::uint32_t> TableStore::FreeIndexAt(std::uint64_t now_ns) {
  if (!free_.empty() && free_.front().since_ns + kIdleNs <= now_ns) {
    const std::uint32_t index = free_.front().index;
    free_.pop_front();
    return index;
  }
  if (entries_.size() == maps_.tables.size()) return std::nullopt;
  entries_.emplace_back();
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::optional<std::uint32_t> TableStore::Add(unwind::Table table, std::uint64_t now_ns) {
  const std::optional<std::uint32_t> free = FreeIndexAt(now_ns);
  if (!free) return std::nullopt;
  const std::uint32_t index = *free;
  entries_[index] = {.table = std::move(table)};
  if (!Load(index, now_ns)) MakeRoom(CellsOf(entries_[index].table), now_ns);
  return index;
}

void TableStore::LoadMissing(std::uint64_t now_ns) {
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const Entry& entry = entries_[index];
    if (entry.cells != 0 || entry.table.empty()) continue;
    const bool is_missed = LastHit(index) > entry.removed_ns;
    const bool may_be_read = entry.removed_ns != 0 && now_ns < entry.removed_ns + kIdleNs;
    if (!is_missed || may_be_read || Load(index, now_ns)) continue;
    MakeRoom(CellsOf(entry.table), now_ns);
  }
}

// Removes the tables that were hit least recently. Their memory is free after its grace time.
void TableStore::MakeRoom(std::uint32_t cells, std::uint64_t now_ns) {
  if (cells > arena_.size() || arena_.has_waiting()) return;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> idle;
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    if (entries_[index].cells == 0 || LastHit(index) + kIdleNs > now_ns) continue;
    idle.emplace_back(LastHit(index), index);
  }
  std::ranges::sort(idle);
  std::uint32_t removed = 0;
  for (const auto& [hit_ns, index] : idle) {
    if (removed >= cells) return;
    removed += entries_[index].cells;
    Remove(index, now_ns);
  }
}

bool TableStore::Load(std::uint32_t index, std::uint64_t now_ns) {
  Entry& entry = entries_[index];
  if (entry.table.empty()) return true;
  const std::uint32_t pages = PagesOf(entry.table);
  const std::uint32_t cells = CellsOf(entry.table);
  const auto first = arena_.Allocate(cells, now_ns);
  if (!first) return false;
  entry.first = *first;
  entry.cells = cells;
  for (const Rule& rule : entry.table.rules()) entry.rules.push_back(rules_.Acquire(rule, now_ns));
  Write(entry, maps_.cells.subspan(*first, cells));
  wire_unwind_table& table = maps_.tables[index];
  table.first = *first;
  last_load_ = last_load_ % WIRE_UNWIND_LOADS + 1;
  table.load = last_load_;
  std::atomic_ref(table.last_hit_ns).store(now_ns, std::memory_order_relaxed);
  Publish(table.pages, pages);
  return true;
}

// Writes the cells of the pages, then the rows.
void TableStore::Write(const Entry& entry, std::span<wire_unwind_cell> cells) {
  const std::span<const Row> rows = entry.table.rows();
  const std::uint32_t pages = PagesOf(entry.table);
  const std::uint32_t first_row = entry.first + pages;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells[pages + i].row = {.pc = rows[i].pc, .rule = entry.rules[rows[i].rule]};
  }
  std::uint32_t row = 0;
  for (std::uint32_t page = 0; page < pages; ++page) {
    const std::uint64_t start = std::uint64_t{page} << WIRE_UNWIND_PAGE_BITS;
    const std::uint64_t end = start + (std::uint64_t{1} << WIRE_UNWIND_PAGE_BITS);
    while (row + 1 < rows.size() && rows[row + 1].pc <= start) ++row;
    cells[page].page.first = first_row + row;
    while (row + 1 < rows.size() && rows[row + 1].pc < end) ++row;
    cells[page].page.end = first_row + row + 1;
  }
}

void TableStore::Remove(std::uint32_t index, std::uint64_t now_ns) {
  Entry& entry = entries_[index];
  Publish(maps_.tables[index].pages, 0U);
  arena_.Free(entry.first, entry.cells, now_ns);
  for (const std::uint32_t rule : entry.rules) rules_.Release(rule, now_ns);
  entry.rules = {};
  entry.cells = 0;
  entry.removed_ns = now_ns;
}

void TableStore::Forget(std::uint32_t index, std::uint64_t now_ns) {
  if (entries_[index].cells != 0) Remove(index, now_ns);
  entries_[index].table = {};
  free_.push_back({.index = index, .since_ns = now_ns});
}

std::uint64_t TableStore::LastHit(std::uint32_t index) const {
  return std::atomic_ref(maps_.tables[index].last_hit_ns).load(std::memory_order_relaxed);
}

}  // namespace perftape::record
