// SPDX-License-Identifier: Apache-2.0
#include "record/rings/event_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/record/records.h"

namespace perftape::record {
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

TEST(EventIds, ReservesAnIdForEachEventOfACpuThatIsNotThereYet) {
  EventIds ids;
  ids.Add(0, 0, 8);
  ids.Add(1, 0, 9);
  const std::vector<int> present = {0, 1, 2};
  ids.Reserve(0, present);
  ids.Reserve(1, present);
  EXPECT_THAT(ids.IdsOf(0), ElementsAre(8, 10, 11));
  EXPECT_THAT(ids.IdsOf(1), ElementsAre(9, 12, 13));
}

TEST(EventIds, GivesTheRecordsOfAnEventOpenedAnewTheIdOfTheFile) {
  EventIds ids;
  ids.Add(0, 1, 8);
  ids.Add(1, 1, 9);
  ids.AddAlias(108, 0, 1);
  ids.AddAlias(109, 1, 1);
  ids.AddAlias(110, 2, 1);  // no such event
  const auto renamed = [&](auto value, std::uint64_t id) {
    std::vector<std::byte> bytes;
    EXPECT_TRUE(perfdata::Encode(value, {.time = 5, .id = id, .cpu = 1}, kTestFormat, 0, bytes));
    ids.ReplaceAliases(bytes);
    const perfdata::RecordView record = RecordsIn(bytes).at(0);
    const perfdata::SampleId trailer = perfdata::DecodeSampleId(record, kTestFormat);
    EXPECT_EQ(trailer.time, 5u);
    return std::pair(perfdata::Decode<decltype(value)>(record, kTestFormat).value(), trailer.id);
  };
  const auto [throttle, throttle_id] =
      renamed(perfdata::Throttle{{.time = 108, .id = 108, .stream_id = 108}}, 108);
  EXPECT_EQ(throttle.time, 108u);
  EXPECT_EQ(throttle.id, 8u);
  EXPECT_EQ(throttle.stream_id, 8u);
  EXPECT_EQ(throttle_id, 8u);
  const auto [lost, lost_id] = renamed(perfdata::Lost{.event_id = 109, .count = 109}, 109);
  EXPECT_EQ(lost.event_id, 9u);
  EXPECT_EQ(lost.count, 109u);
  EXPECT_EQ(lost_id, 9u);
  EXPECT_EQ(renamed(perfdata::LostSamples{.count = 110}, 110).second, 110u);
  EXPECT_EQ(renamed(perfdata::LostSamples{.count = 8}, 8).second, 8u);
}

TEST(EventIds, GivesTheSamplesOfAnotherThreadTheIdOfTheFile) {
  EventIds ids;
  ids.Add(0, 1, 8);
  ids.AddAlias(108, 0, 1);
  std::vector<std::byte> bytes;
  ASSERT_TRUE(perfdata::EncodeSample({.id = 108, .pid = 108, .time = 5, .cpu = 108}, kTestFormat, 0,
                                     bytes));
  ids.ReplaceAliases(bytes);
  const auto sample = perfdata::DecodeSample(RecordsIn(bytes).at(0), kTestFormat);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->id, 8u);
  EXPECT_EQ(sample->pid, 108u);
  EXPECT_EQ(sample->cpu, 108u);
}

TEST(EventIds, LeavesAloneWhatIsTooShortToBeARecord) {
  EventIds ids;
  ids.Add(0, 0, 8);
  ids.AddAlias(0, 0, 0);
  for (std::size_t size = 0; size < 16; ++size) {
    std::vector<std::byte> bytes(size);
    ids.ReplaceAliases(bytes);
    EXPECT_EQ(bytes, std::vector<std::byte>(size));
  }
}

}  // namespace
}  // namespace perftape::record
