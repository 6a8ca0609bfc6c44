// SPDX-License-Identifier: Apache-2.0
#include "record/event_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/record/records.h"

namespace perftape {
namespace {

using perfdata::IdIndex;
using testing::ElementsAre;

TEST(EventIds, FindsTheIdOfAnEventOnACpu) {
  EventIds ids;
  ids.Add(0, 1, 12);
  ids.Add(1, 1, 22);
  EXPECT_EQ(ids.Find(1, 1), 22u);
  EXPECT_EQ(ids.Find(0, 0), std::nullopt);
  EXPECT_EQ(ids.Find(2, 1), std::nullopt);
}

TEST(EventIds, ListsThoseOfAnEventByCpu) {
  EventIds ids;
  ids.Add(0, 3, 13);
  ids.Add(1, 0, 20);
  ids.Add(0, 1, 11);
  EXPECT_THAT(ids.IdsOf(0), ElementsAre(11, 13));
}

TEST(EventIds, WritesAnIndexAsPerfDoes) {
  EventIds ids;
  ids.Add(0, 0, 8);
  ids.Add(0, 1, 9);
  ids.Add(1, 0, 10);
  std::vector<std::byte> bytes;
  ASSERT_TRUE(ids.AppendIndex(bytes));
  const std::vector<IdIndex> index = Decoded<IdIndex>(RecordsIn(bytes));
  ASSERT_EQ(index.size(), 1u);
  constexpr std::uint64_t kAny = UINT64_MAX;
  EXPECT_THAT(std::vector(index[0].words.begin(), index[0].words.end()),
              ElementsAre(8, 0, 0, kAny, 9, 1, 1, kAny, 10, 0, 0, kAny));
}

TEST(EventIds, SplitsAnIndexThatOneRecordCannotHold) {
  EventIds ids;
  for (std::uint32_t cpu = 0; cpu < 5000; ++cpu) ids.Add(0, cpu, cpu + 100);
  std::vector<std::byte> bytes;
  ASSERT_TRUE(ids.AppendIndex(bytes));
  std::size_t words = 0;
  for (const IdIndex& index : Decoded<IdIndex>(RecordsIn(bytes))) words += index.words.size();
  EXPECT_EQ(words, 5000u * 4);
}

TEST(EventIds, WritesNothingWithoutIds) {
  std::vector<std::byte> bytes;
  ASSERT_TRUE(EventIds().AppendIndex(bytes));
  EXPECT_TRUE(bytes.empty());
}

}  // namespace
}  // namespace perftape
