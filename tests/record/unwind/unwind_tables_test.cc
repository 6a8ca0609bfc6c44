// SPDX-License-Identifier: Apache-2.0
// The stores that write the maps of the BPF programs, with memory instead of maps. The test reads
// the maps as bpf/unwind.bpf.h does.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "record/unwind/process_entries.h"
#include "record/unwind/table_store.h"

namespace perftape::record {
namespace {

using unwind::CfaRule;
using unwind::Row;
using unwind::Rule;

constexpr std::uint64_t kNow = 10'000'000'000;

struct Memory {
  explicit Memory(std::size_t cell_count) : cells(cell_count) {}
  UnwindMaps maps() { return {cells, rules, tables, mappings, processes}; }

  std::vector<wire_unwind_cell> cells;
  std::vector<wire_unwind_rule> rules = std::vector<wire_unwind_rule>(64);
  std::vector<wire_unwind_table> tables = std::vector<wire_unwind_table>(8);
  std::vector<wire_unwind_mapping> mappings = std::vector<wire_unwind_mapping>(8);
  std::vector<std::uint64_t> processes = std::vector<std::uint64_t>(WIRE_UNWIND_PROCESSES);
};

// A table of `rows` functions of `size` bytes each, whose CFA offsets count from `offset` on.
unwind::Table TableOf(std::uint32_t rows, std::uint32_t size, std::int32_t offset) {
  struct Content {
    std::vector<Row> rows;
    std::vector<Rule> rules;
  };
  auto content = std::make_shared<Content>();
  content->rules = {Rule(), Rule()};
  content->rules[1].cfa = CfaRule::kEndOfStack;
  for (std::uint32_t i = 0; i < rows; ++i) {
    Rule rule;
    rule.cfa = CfaRule::kStackPointer;
    rule.cfa_offset = offset + static_cast<std::int32_t>(i);
    content->rules.push_back(rule);
    content->rows.push_back({.pc = i * size, .rule = 2 + i});
  }
  content->rows.push_back({.pc = rows * size, .rule = 0});
  return {unwind::Machine::kX86_64, ImageAddress{0x1000}, content->rows, content->rules, content};
}

// As search_rows() of the BPF programs, with a linear search.
const wire_unwind_rule* Find(const Memory& memory, std::uint32_t index, std::uint32_t distance) {
  const wire_unwind_table& table = memory.tables[index];
  const std::uint32_t page = distance >> WIRE_UNWIND_PAGE_BITS;
  if (page >= table.pages) return nullptr;
  const wire_unwind_page& bounds = memory.cells[table.first + page].page;
  std::uint32_t row = bounds.first;
  while (row + 1 < bounds.end && memory.cells[row + 1].row.pc <= distance) ++row;
  return &memory.rules[memory.cells[row].row.rule];
}

TEST(TableStore, EveryAddressHasTheRuleOfItsTable) {
  for (const std::uint32_t size : {16U, 0x1000U, 0x2345U}) {
    Memory memory(400);
    TableStore store(memory.maps());
    const unwind::Table table = TableOf(30, size, 8);
    ASSERT_EQ(store.Add(TableOf(5, 16, 8), kNow), 0U);
    ASSERT_EQ(store.Add(table, kNow), 1U);
    for (std::uint32_t distance = 0; distance < 30 * size; distance += 1 + size / 5) {
      const wire_unwind_rule* const rule = Find(memory, 1, distance);
      ASSERT_NE(rule, nullptr);
      EXPECT_EQ(rule->cfa_offset, table.Find(ImageAddress{0x1000U + distance}).cfa_offset);
    }
    const wire_unwind_rule* const behind = Find(memory, 1, 30 * size);
    EXPECT_TRUE(behind == nullptr || behind->cfa == WIRE_CFA_NONE);
  }
}

TEST(TableStore, TablesShareTheirRules) {
  Memory memory(400);
  TableStore store(memory.maps());
  ASSERT_TRUE(store.Add(TableOf(20, 16, 8), kNow));
  ASSERT_TRUE(store.Add(TableOf(20, 32, 8), kNow));
  EXPECT_EQ(Find(memory, 0, 0), Find(memory, 1, 0));
}

TEST(TableStore, AHitTableReplacesOnesThatAreIdle) {
  Memory memory(40);
  TableStore store(memory.maps());
  ASSERT_EQ(store.Add(TableOf(30, 16, 8), kNow), 0U);
  ASSERT_EQ(store.Add(TableOf(30, 16, 99), kNow), 1U);
  EXPECT_EQ(memory.tables[1].pages, 0U);  // no room, and the first may be in use

  std::uint64_t now_ns = kNow + TableStore::kIdleNs;
  memory.tables[1].last_hit_ns = now_ns;
  store.LoadMissing(now_ns);
  EXPECT_EQ(memory.tables[0].pages, 0U);
  EXPECT_EQ(memory.tables[1].pages, 0U);  // a program may still read the memory
  now_ns += UnwindArena::kGraceNs;
  store.LoadMissing(now_ns);
  EXPECT_EQ(memory.tables[0].pages, 0U);
  ASSERT_EQ(memory.tables[1].pages, 1U);
  EXPECT_EQ(Find(memory, 1, 0)->cfa_offset, 99);
}

TEST(TableStore, AForgottenTableLeavesItsIndexToAnother) {
  Memory memory(400);
  TableStore store(memory.maps());
  for (std::uint32_t i = 0; i < 8; ++i) ASSERT_EQ(store.Add(TableOf(5, 16, 8), kNow), i);
  EXPECT_EQ(store.Add(TableOf(5, 16, 8), kNow), std::nullopt);
  const std::uint32_t load = memory.tables[3].load;
  store.Forget(3, kNow);
  EXPECT_EQ(memory.tables[3].pages, 0U);
  EXPECT_EQ(store.Add(TableOf(5, 16, 50), kNow), std::nullopt) << "a program may still use it";
  EXPECT_EQ(store.Add(TableOf(5, 16, 50), kNow + TableStore::kIdleNs), 3U);
  EXPECT_EQ(Find(memory, 3, 0)->cfa_offset, 50);
  EXPECT_NE(memory.tables[3].load, load) << "programs remember rules of the old table";
}

TEST(TableStore, AForgottenTableLeavesItsRulesToAnother) {
  Memory memory(400);
  TableStore store(memory.maps());
  std::uint64_t now_ns = kNow;
  for (std::int32_t offset = 100; offset < 1000; offset += 50, now_ns += TableStore::kIdleNs) {
    const std::optional<std::uint32_t> index = store.Add(TableOf(50, 16, offset), now_ns);
    ASSERT_TRUE(index);
    for (std::int32_t row = 0; row < 50; ++row) {
      const auto distance = static_cast<std::uint32_t>(16 * row);
      ASSERT_EQ(Find(memory, *index, distance)->cfa_offset, offset + row);
    }
    store.Forget(*index, now_ns);
  }
}

TEST(TableStore, KeepsATableThatFitsNever) {
  Memory memory(40);
  TableStore store(memory.maps());
  ASSERT_EQ(store.Add(TableOf(30, 16, 8), kNow), 0U);
  ASSERT_EQ(store.Add(TableOf(100, 16, 8), kNow + TableStore::kIdleNs), 1U);
  EXPECT_EQ(memory.tables[0].pages, 1U);
  EXPECT_EQ(memory.tables[1].pages, 0U);
}

// As unwind_process_of() of the BPF programs.
std::uint64_t WordOf(const Memory& memory, std::uint32_t tgid) {
  for (std::uint32_t i = 0; i < WIRE_UNWIND_PROBES; ++i) {
    const std::uint64_t word = memory.processes[(tgid + i) & (WIRE_UNWIND_PROCESSES - 1)];
    if (word >> WIRE_UNWIND_TGID_SHIFT == tgid) return word;
  }
  return 0;
}

std::uint64_t FirstStart(const Memory& memory, std::uint32_t tgid) {
  return memory.mappings[WordOf(memory, tgid) & WIRE_UNWIND_FIRST_MASK].start;
}

TEST(ProcessEntries, FindsProcessesOfTheSameSlot) {
  Memory memory(0);
  ProcessEntries entries(memory.maps());
  const wire_unwind_mapping one = {.start = 1, .end = 2, .bias = 0, .table = 0, .pad = 0};
  const wire_unwind_mapping other = {.start = 5, .end = 6, .bias = 0, .table = 0, .pad = 0};
  ASSERT_TRUE(entries.Set(7, {&one, 1}, kNow));
  ASSERT_TRUE(entries.Set(7 + WIRE_UNWIND_PROCESSES, {&other, 1}, kNow));
  EXPECT_EQ(FirstStart(memory, 7), 1U);
  EXPECT_EQ(FirstStart(memory, 7 + WIRE_UNWIND_PROCESSES), 5U);
  entries.Remove(7, kNow);
  EXPECT_EQ(WordOf(memory, 7), 0U);
  EXPECT_EQ(FirstStart(memory, 7 + WIRE_UNWIND_PROCESSES), 5U);
  ASSERT_TRUE(entries.Set(7 + WIRE_UNWIND_PROCESSES, {&one, 1}, kNow));
  EXPECT_EQ(FirstStart(memory, 7 + WIRE_UNWIND_PROCESSES), 1U);
  entries.Remove(7 + WIRE_UNWIND_PROCESSES, kNow);
  EXPECT_EQ(WordOf(memory, 7 + WIRE_UNWIND_PROCESSES), 0U);
}

TEST(ProcessEntries, WithoutRoomAProcessHasNoEntry) {
  Memory memory(0);
  ProcessEntries entries(memory.maps());
  const std::vector<wire_unwind_mapping> five(5);
  ASSERT_TRUE(entries.Set(7, five, kNow));
  EXPECT_FALSE(entries.Set(7, five, kNow));  // the old ones may still be read
  EXPECT_EQ(WordOf(memory, 7), 0U);
  EXPECT_TRUE(entries.Set(7, five, kNow + UnwindArena::kGraceNs));
  EXPECT_EQ(WordOf(memory, 7) >> WIRE_UNWIND_COUNT_SHIFT & WIRE_UNWIND_COUNT_MASK, 5U);
}

}  // namespace
}  // namespace perftape::record
