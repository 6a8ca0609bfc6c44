// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/table_store.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <utility>

namespace perftape::record {
namespace {

using unwind::CfaRule;
using unwind::Row;
using unwind::Rule;

static_assert(sizeof(wire_unwind_rule) == sizeof(Rule));
static_assert(offsetof(wire_unwind_rule, fp_offset) == offsetof(Rule, fp_offset));
static_assert(offsetof(wire_unwind_rule, ra_offset) == offsetof(Rule, ra_offset));
static_assert(offsetof(wire_unwind_rule, cfa) == offsetof(Rule, cfa));
static_assert(offsetof(wire_unwind_rule, flags) == offsetof(Rule, flags));
static_assert(offsetof(wire_unwind_rule, addend) == offsetof(Rule, addend));
static_assert(offsetof(wire_unwind_rule, bx_words) == offsetof(Rule, bx_words));
static_assert(WIRE_CFA_NONE == static_cast<int>(CfaRule::kNone));
static_assert(WIRE_CFA_END_OF_STACK == static_cast<int>(CfaRule::kEndOfStack));
static_assert(WIRE_CFA_STACK_POINTER == static_cast<int>(CfaRule::kStackPointer));
static_assert(WIRE_CFA_FRAME_POINTER == static_cast<int>(CfaRule::kFramePointer));
static_assert(WIRE_CFA_AT_STACK_POINTER == static_cast<int>(CfaRule::kAtStackPointer));
static_assert(WIRE_CFA_AT_FRAME_POINTER == static_cast<int>(CfaRule::kAtFramePointer));
static_assert(WIRE_CFA_PLT == static_cast<int>(CfaRule::kPlt));
static_assert(WIRE_CFA_BASE_REGISTER == static_cast<int>(CfaRule::kBaseRegister));
static_assert(WIRE_CFA_COUNT_REGISTER == static_cast<int>(CfaRule::kCountRegister));
static_assert(WIRE_CFA_UNSUPPORTED == static_cast<int>(CfaRule::kUnsupported));
static_assert(WIRE_RULE_IN_REGISTER == Rule::kInRegister);
static_assert(WIRE_RULE_SIGNAL_FRAME == Rule::kSignalFrame);
static_assert(WIRE_RULE_FROM_SP == Rule::kFromStackPointer);
static_assert(WIRE_RULE_SIGNED_RETURN == Rule::kSignedReturn);
static_assert(WIRE_RULE_FP_FROM_FP == Rule::kFpFromFp);
static_assert(WIRE_RULE_RETURN_IN_CX == Rule::kReturnInCx);
static_assert(WIRE_RULE_IN_GAP == Rule::kInGap);
static_assert(WIRE_RULE_DERIVED == Rule::kDerived);
static_assert(WIRE_RULE_OTHER_STACK == Rule::kOtherStack);
static_assert(WIRE_RULE_BX_UNCHANGED == Rule::kBxUnchanged);
static_assert(WIRE_RULE_BX_UNKNOWN == Rule::kBxUnknown);

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
    : maps_(maps), arena_(static_cast<std::uint32_t>(maps.cells.size())) {
  (void)NumberOf(Rule());  // number 0 is kNone, also for rules that do not fit
}

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
  Write(entry.table, maps_.cells.subspan(*first, cells), *first);
  wire_unwind_table& table = maps_.tables[index];
  table.first = *first;
  last_load_ = last_load_ % WIRE_UNWIND_LOADS + 1;
  table.load = last_load_;
  std::atomic_ref(table.last_hit_ns).store(now_ns, std::memory_order_relaxed);
  Publish(table.pages, pages);
  return true;
}

// Writes the cells of the pages, then the rows. `first` is the number of the first cell.
void TableStore::Write(const unwind::Table& table, std::span<wire_unwind_cell> cells,
                       std::uint32_t first) {
  std::vector<std::uint32_t> numbers;
  for (const Rule& rule : table.rules()) numbers.push_back(NumberOf(rule));
  const std::span<const Row> rows = table.rows();
  const std::uint32_t pages = PagesOf(table);
  const std::uint32_t first_row = first + pages;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    cells[pages + i].row = {.pc = rows[i].pc, .rule = numbers[rows[i].rule]};
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

std::uint32_t TableStore::NumberOf(const Rule& rule) {
  const std::uint32_t rest = static_cast<std::uint32_t>(rule.cfa) | std::uint32_t{rule.flags} << 8 |
                             std::uint32_t{rule.addend} << 16 |
                             std::uint32_t{static_cast<std::uint8_t>(rule.bx_words)} << 24;
  const RuleKey key(rule.cfa_offset, rule.fp_offset, rule.ra_offset, rest);
  const auto found = rules_.find(key);
  if (found != rules_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(rules_.size());
  if (number >= maps_.rules.size()) return 0;
  rules_.emplace(key, number);
  maps_.rules[number] = std::bit_cast<wire_unwind_rule>(rule);
  return number;
}

}  // namespace perftape::record
