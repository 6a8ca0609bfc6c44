// SPDX-License-Identifier: Apache-2.0
#include "convert/import/sample_table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::SizeIs;
using Words = std::vector<std::uint64_t>;

RawStack StackOf(const Words& chain) {
  return {.ip = chain.at(0),
          .chain = std::as_bytes(std::span(chain)),
          .mode = perfdata::CpuMode::kUser};
}

SampleTable::Addition Of(const RawStack& stack, std::uint64_t period = 1) {
  return {.hash = SampleTable::HashOf(stack, {}), .period = period, .stack = stack};
}

std::vector<std::uint64_t> CountsOf(const SampleTable& table) {
  std::vector<std::uint64_t> counts;
  for (const SampleTable::Row& row : table.rows()) counts.push_back(row.count);
  return counts;
}

TEST(SampleTable, AddsUpEqualSamplesOfAnyBatchSize) {
  const Words one = {1, 2}, other = {1, 3};
  SampleTable table;
  std::vector<SampleTable::Addition> batch(100, Of(StackOf(one), 5));
  batch.push_back(Of(StackOf(other)));
  table.AddBatch(batch);
  EXPECT_THAT(CountsOf(table), ElementsAre(100, 1));
  EXPECT_EQ(table.rows()[0].period, 500U);
  EXPECT_THAT(table.StacksByEpoch(), SizeIs(2));
}

TEST(SampleTable, KeepsThreadsAndEventsOfOneStackApart) {
  const Words chain = {1, 2};
  SampleTable table;
  std::vector<SampleTable::Addition> batch(3, Of(StackOf(chain)));
  batch[1].thread = batch[2].thread = 1;
  batch[2].event_labels = 1;
  table.AddBatch(batch);
  EXPECT_THAT(CountsOf(table), ElementsAre(1, 1, 1));
  EXPECT_THAT(table.StacksByEpoch(), SizeIs(1));
}

// The same unwound stack has another id in each table.
TEST(SampleTable, AddsUpUnwoundStacksOfTwoTables) {
  const std::vector<std::uint64_t> one = {1, 2}, other = {3, 2};
  const auto unwound_of = [](SampleTable& table, const std::vector<std::uint64_t>& frames) {
    return Of(RawStack{.mode = perfdata::CpuMode::kUser,
                       .unwound = table.unwound().Add(frames, UnwoundStacks::kWhole)});
  };
  SampleTable first, second;
  for (SampleTable* table : {&first, &second}) {
    table->Add(RawThread{.pid = 7});
    table->Add(EventLabels{});
  }
  first.Add(unwound_of(first, one));
  second.Add(unwound_of(second, other));
  second.Add(unwound_of(second, one));
  first.AddAll(second);
  EXPECT_THAT(CountsOf(first), ElementsAre(2, 1));
  const RawStack added = first.stack(first.rows()[1].stack);
  EXPECT_EQ(added.unwound, first.unwound().Add(other, UnwoundStacks::kWhole));
}

TEST(SampleTable, CopiesAStackThatDoesNotLast) {
  SampleTable table;
  Words chain = {1, 2}, branches = {3, 4, 5};
  RawStack stack = StackOf(chain);
  stack.branches = std::as_bytes(std::span(branches));
  table.Add(Of(stack));
  chain = {8, 9};
  branches = {7, 7, 7};
  const RawStack kept = table.stack(0);
  const WordArray words(kept.chain, std::endian::native);
  const WordArray calls(kept.branches, std::endian::native);
  EXPECT_EQ(words[1], 2U);
  EXPECT_EQ(calls[2], 5U);
}

TEST(SampleTable, DistinguishesStacksByTheirMappings) {
  const Words chain = {1, 2};
  const RawStack stack = StackOf(chain);
  const Hash128 hash = SampleTable::HashOf(stack, {.spaces = {.user = 1}});
  EXPECT_EQ(SampleTable::HashOf(stack, {.spaces = {.user = 1}}), hash);
  EXPECT_NE(SampleTable::HashOf(stack, {.spaces = {.user = 2}}), hash);
  EXPECT_NE(SampleTable::HashOf(stack, {.spaces = {.user = 1, .kernel = 1}}), hash);
  RawStack in_kernel = stack;
  in_kernel.mode = perfdata::CpuMode::kKernel;
  EXPECT_NE(SampleTable::HashOf(in_kernel, {.spaces = {.user = 1}}), hash);
}

TEST(SampleTable, GoesThroughItsStacksByEpoch) {
  const std::vector<Words> chains = {{1}, {2}, {3}, {4}};
  SampleTable table;
  std::vector<SampleTable::Addition> batch;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    RawStack stack = StackOf(chains[i]);
    stack.epoch = std::array<Epoch, 4>{7, 0, 7, 3}.at(i);
    batch.push_back(Of(stack));
  }
  table.AddBatch(batch);
  EXPECT_THAT(table.StacksByEpoch(), ElementsAre(1, 3, 0, 2));
}

TEST(SampleTable, AddsAllOfAnotherTable) {
  const Words one = {1, 2}, other = {1, 3};
  SampleTable first, second;
  first.Add(RawThread{.pid = 1});
  second.Add(RawThread{.pid = 2});
  second.Add(RawThread{.pid = 1});
  first.Add(EventLabels{.event = 1});
  second.Add(EventLabels{.event = 1});
  first.AddBatch(std::array{Of(StackOf(one), 10)});
  SampleTable::Addition same = Of(StackOf(one), 20);
  same.thread = 1;
  second.AddBatch(std::array{same, same, Of(StackOf(other))});
  first.AddAll(second);
  EXPECT_THAT(CountsOf(first), ElementsAre(3, 1));
  EXPECT_EQ(first.rows()[0].period, 50U);
  EXPECT_EQ(first.threads()[first.rows()[1].thread].pid, 2U);
  EXPECT_THAT(first.StacksByEpoch(), SizeIs(2));
}

// Returns how often each stack was counted at each time: "stack time: count, period, first ms".
std::vector<std::string> RowsOf(const SampleTable& table) {
  std::vector<std::string> shown;
  for (const SampleTable::Row& row : table.rows()) {
    shown.push_back(fmt::format("{} {}: {}, {}, {}", row.stack,
                                table.event_labels()[row.event_labels].time_ns, row.count,
                                row.period, row.first_ms));
  }
  return shown;
}

TEST(SampleTable, AddsUpWhatBecomesEqualWhenTimesAreRounded) {
  const Words one = {1, 2}, other = {1, 3};
  SampleTable table;
  const auto add = [&](const Words& chain, std::uint64_t time_ns, std::uint64_t period) {
    SampleTable::Addition sample = Of(StackOf(chain), period);
    sample.event_labels = table.Add(EventLabels{.time_ns = time_ns});
    sample.first_ms = static_cast<std::uint32_t>(time_ns);
    table.AddBatch(std::array{sample});
  };
  add(one, 105, 1);
  add(other, 106, 2);
  add(one, 104, 4);
  add(one, 111, 8);
  add(other, 100, 16);
  TimeParts parts = {.first = 100, .last = 200, .step = 10};
  table.RoundTimes(parts);
  EXPECT_THAT(RowsOf(table), ElementsAre("0 110: 2, 5, 104", "1 110: 1, 2, 106", "0 120: 1, 8, 111",
                                         "1 100: 1, 16, 100"));
  // What is added later finds the rows.
  add(one, 120, 32);
  add(other, 110, 64);
  parts.step = 20;
  table.RoundTimes(parts);
  EXPECT_THAT(RowsOf(table),
              ElementsAre("0 120: 4, 45, 104", "1 120: 2, 66, 106", "1 100: 1, 16, 100"));
  EXPECT_THAT(table.event_labels(), SizeIs(2));
  EXPECT_THAT(table.StacksByEpoch(), SizeIs(2));
}

// More rows than memory is prefetched for.
TEST(SampleTable, KeepsAllSumsOfManyRowsWhenTimesAreRounded) {
  std::vector<Words> chains;
  for (std::uint64_t i = 0; i < 50; ++i) chains.push_back({1, i});
  SampleTable table;
  std::vector<SampleTable::Addition> batch;
  for (std::uint64_t time = 1; time <= 100; ++time) {
    const std::uint32_t labels = table.Add(EventLabels{.time_ns = time});
    for (const Words& chain : chains) {
      batch.push_back(Of(StackOf(chain), time));
      batch.back().event_labels = labels;
    }
  }
  table.AddBatch(batch);
  ASSERT_THAT(table.rows(), SizeIs(5000));
  table.RoundTimes({.first = 0, .last = 100, .step = 25});
  ASSERT_THAT(table.rows(), SizeIs(200));
  for (const SampleTable::Row& row : table.rows()) {
    const std::uint64_t end = table.event_labels()[row.event_labels].time_ns;
    EXPECT_EQ(row.count, 25U);
    EXPECT_EQ(row.period, 25 * end - 300) << "the sum of the 25 times until " << end;
  }
}

TEST(SampleTable, KeepsTheCopiedStacksOfATableThatIsGone) {
  SampleTable table;
  {
    Words chain = {1, 2};
    SampleTable other;
    other.Add(RawThread{.pid = 1});
    other.Add(EventLabels{.event = 1});
    other.Add(Of(StackOf(chain)));
    chain = {8, 9};
    table.AddAll(other);
  }
  const Words expected = {1, 2};
  EXPECT_THAT(table.stack(0).chain, ElementsAreArray(std::as_bytes(std::span(expected))));
}

TEST(SampleTable, InternsThreadsAndEventLabels) {
  SampleTable table;
  EXPECT_EQ(table.Add(RawThread{.pid = 1, .tid = 2}), 0U);
  EXPECT_EQ(table.Add(RawThread{.pid = 1, .tid = 3}), 1U);
  EXPECT_EQ(table.Add(RawThread{.pid = 1, .tid = 2}), 0U);
  EXPECT_EQ(table.Add(EventLabels{.event = 1, .cpu = 0}), 0U);
  EXPECT_EQ(table.Add(EventLabels{.event = 1}), 1U);
  EXPECT_EQ(table.threads().size(), 2U);
  EXPECT_EQ(table.event_labels().size(), 2U);
}

TEST(SampleTable, InternsTheValuesOfFieldsAlsoOfAnotherTable) {
  SampleTable first, second;
  EXPECT_EQ(first.AddFields(""), 0U);
  EXPECT_EQ(first.AddFields("a"), 1U);
  EXPECT_EQ(first.AddFields("b"), 2U);
  EXPECT_EQ(first.AddFields("a"), 1U);
  second.Add(EventLabels{.event = 1, .fields = second.AddFields("c")});
  second.Add(EventLabels{.event = 1, .fields = second.AddFields("b")});
  first.AddAll(second);
  EXPECT_EQ(first.event_labels().size(), 2U);
  EXPECT_EQ(first.fields(first.event_labels()[0].fields), "c");
  EXPECT_EQ(first.event_labels()[1].fields, 2U);
}

}  // namespace
}  // namespace perftape::convert
