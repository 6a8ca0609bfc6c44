// SPDX-License-Identifier: Apache-2.0
#include "record/input/incoming_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/record/records.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kId = 77;

class IncomingRecordsTest : public testing::Test {
 protected:
  IncomingRecordsTest() { ids_.Add(0, 0, kId); }

  std::vector<std::uint64_t> TimesUpTo(std::uint64_t limit_ns) {
    CollectedRecords released;
    EXPECT_TRUE(records_.Release(limit_ns, released));
    std::vector<std::uint64_t> times;
    for (const perfdata::RecordView& record : released.records()) {
      times.push_back(perfdata::TimeOf(record, kTestFormat));
    }
    return times;
  }

  EventIds ids_;
  IncomingRecords records_{ids_, kTestFormat, {kTestFormat}, kNoLimit};
};

TEST_F(IncomingRecordsTest, AreReleasedInOrderOfTimeUpToTheLimit) {
  records_.AddKernelRecord(SampleOf({.id = kId, .time = 30}, perfdata::CpuMode::kUser));
  records_.AddKernelRecord(RecordOf(perfdata::Comm{.pid = 7, .tid = 7, .comm = "x"}, 10));
  records_.AddOwn(20, RecordOf(perfdata::LostSamples{.count = 1}, 20));
  EXPECT_THAT(TimesUpTo(20), ElementsAre(10, 20));
  EXPECT_THAT(TimesUpTo(kNoLimit), ElementsAre(30));
}

TEST_F(IncomingRecordsTest, CountDamagedOnesAndLeaveThemOut) {
  records_.AddMessage({});
  const std::vector<std::byte> comm = RecordOf(perfdata::Comm{.pid = 7, .tid = 7, .comm = "x"}, 10);
  records_.AddKernelRecord(Bytes(comm).first(sizeof(perfdata::RecordHeader)));
  EXPECT_EQ(records_.damaged(), 2);
  EXPECT_THAT(TimesUpTo(kNoLimit), ElementsAre());
}

TEST_F(IncomingRecordsTest, HaveTheIdThatTheFileHas) {
  constexpr std::uint64_t kReopened = 99;
  ids_.AddAlias(kReopened, 0, 0);
  records_.AddKernelRecord(SampleOf({.id = kReopened, .time = 5}, perfdata::CpuMode::kUser));
  CollectedRecords released;
  ASSERT_TRUE(records_.Release(kNoLimit, released));
  EXPECT_EQ(perfdata::RecoverSample(released.records().at(0), kTestFormat)->id, kId);
}

TEST_F(IncomingRecordsTest, SumTheTimeOfThrottledEvents) {
  perfdata::ThrottleChange change{.time = 10, .id = kId, .stream_id = kId};
  records_.AddKernelRecord(RecordOf(perfdata::Throttle{change}, 10));
  change.time = 40;
  records_.AddKernelRecord(RecordOf(perfdata::Unthrottle{change}, 40));
  EXPECT_EQ(records_.throttled().Of(kId, {}).throttled_ns, 30);
}

}  // namespace
}  // namespace perftape::record
