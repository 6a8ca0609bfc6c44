// SPDX-License-Identifier: Apache-2.0
#include "record/rings/time_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/record/records.h"
#include "tests/support/excess.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns a record that contains its number as the count.
std::vector<std::byte> Numbered(std::uint64_t number, std::uint64_t time) {
  return RecordOf(perfdata::LostSamples{.count = number}, time);
}

class Merge : public testing::Test {
 protected:
  void Add(std::uint64_t number, std::uint64_t time) { merge_.Add(time, Numbered(number, time)); }

  // Returns the numbers of the released records.
  std::vector<std::uint64_t> Release(std::uint64_t limit) {
    CollectedRecords collected;
    EXPECT_TRUE(merge_.Release(limit, collected));
    std::vector<std::uint64_t> numbers;
    for (const auto& record : Decoded<perfdata::LostSamples>(collected.records())) {
      numbers.push_back(record.count);
    }
    return numbers;
  }

  TimeMerge merge_;
};

TEST_F(Merge, ReleasesTheOldestFirst) {
  Add(1, 30);
  Add(2, 10);
  Add(3, 20);
  EXPECT_THAT(Release(100), ElementsAre(2, 3, 1));
}

TEST_F(Merge, KeepsTheOrderOfEqualTimes) {
  for (std::uint64_t i = 0; i < 50; ++i) Add(i, 7);
  const std::vector<std::uint64_t> numbers = Release(7);
  EXPECT_EQ(numbers.size(), 50u);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
}

TEST_F(Merge, HoldsBackWhatIsYoungerThanTheLimit) {
  Add(1, 30);
  Add(2, 10);
  Add(3, 20);
  EXPECT_THAT(Release(20), ElementsAre(2, 3));
  EXPECT_THAT(Release(20), IsEmpty());
  EXPECT_THAT(Release(30), ElementsAre(1));
}

TEST_F(Merge, PutsWhatWaitedBetweenWhatCameLater) {
  Add(1, 30);
  Add(2, 50);
  Release(20);
  Add(3, 40);
  Add(4, 25);
  EXPECT_THAT(Release(100), ElementsAre(4, 1, 3, 2));
}

TEST_F(Merge, KeepsTheOrderOfEqualTimesOverReleases) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    Add(100 + i, 50 - i);  // so that a release sorts and moves the waiting records
    Add(i, 200);
  }
  Release(100);
  Add(20, 200);
  const std::vector<std::uint64_t> numbers = Release(200);
  EXPECT_EQ(numbers.size(), 21u);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
}

TEST_F(Merge, ReleasesALateRecordWithTheNextOnes) {
  Add(1, 30);
  Release(30);
  Add(2, 29);
  Add(3, 31);
  Add(4, 0);  // synthesized records have no time
  EXPECT_THAT(Release(100), ElementsAre(4, 2, 3));
}

TEST_F(Merge, ReadsTheTimeFromTheTrailer) {
  ASSERT_TRUE(merge_.AddKernelRecord(Numbered(1, 40), kTestFormat));
  ASSERT_TRUE(merge_.AddKernelRecord(Numbered(2, 10), kTestFormat));
  EXPECT_THAT(Release(20), ElementsAre(2));
}

TEST_F(Merge, RefusesAKernelRecordCutAtAnyByte) {
  const std::vector<std::byte> record = Numbered(1, 40);
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(merge_.AddKernelRecord(Bytes(record).first(size), kTestFormat)) << size;
  }
  EXPECT_THAT(Release(100), IsEmpty());
}

TEST_F(Merge, SetsTheSizeOfAKernelRecordRightThatCountsTooMuch) {
  const perfdata::Ksymbol symbol = {.address = 1, .length = 8, .symbol_type = 1, .name = "f"};
  const perfdata::SampleId trailer = {.time = 40};
  for (const std::size_t excess : {32U, 64U}) {
    ASSERT_TRUE(merge_.AddKernelRecord(RecordWithExcess(symbol, trailer, kTestFormat, excess),
                                       kTestFormat));
  }
  Add(1, 30);
  Add(2, 50);
  CollectedRecords collected;
  ASSERT_TRUE(merge_.Release(45, collected));  // the time of the round is in the trailer
  std::vector<std::byte> expected = Numbered(1, 30);
  const std::vector<std::byte> whole = RecordOf(symbol, 40);
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), whole.begin(), whole.end());
  EXPECT_EQ(collected.bytes, expected);
}

TEST_F(Merge, RefusesTwoRecordsAtOnce) {
  std::vector<std::byte> two = Numbered(1, 40);
  const std::vector<std::byte> second = Numbered(2, 50);
  two.insert(two.end(), second.begin(), second.end());
  EXPECT_EQ(merge_.AddKernelRecord(two, kTestFormat).error().code, ErrorCode::kCorrupt);
}

TEST_F(Merge, AddsNothingOfARecordThatCannotBeWritten) {
  Add(1, 10);
  const auto write = [](std::vector<std::byte>& out) -> Result<std::uint64_t> {
    out.resize(out.size() + 100);
    return Fail(ErrorCode::kCorrupt, "no message");
  };
  EXPECT_EQ(merge_.AddWritten(write).error().message, "no message");
  Add(2, 20);
  EXPECT_THAT(Release(20), ElementsAre(1, 2));
}

TEST_F(Merge, PassesOnTheErrorOfItsSink) {
  struct FullDisk {
    Status Append(Bytes) { return Fail(ErrorCode::kIo, "disk full"); }
  } full;
  Add(1, 10);
  const Status status = merge_.Release(10, full);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "disk full");
}

}  // namespace
}  // namespace perftape::record
