// SPDX-License-Identifier: Apache-2.0
#include "record/rings/throttled_time.h"

#include <gtest/gtest.h>

#include "tests/record/records.h"

namespace perftape::record {
namespace {

using perfdata::Throttle;
using perfdata::Unthrottle;
using Sum = ThrottledTime::Sum;

constexpr std::uint64_t kId = 8, kOther = 9, kEndNs = 1000;

class ThrottledTimeTest : public testing::Test {
 protected:
  template <class Record>
  void Add(Record record) {
    std::vector<std::byte> bytes;
    ASSERT_TRUE(perfdata::Encode(record, {.time = 1, .id = kId}, kTestFormat, 0, bytes));
    throttled_.Add(RecordsIn(bytes).at(0), kTestFormat);
  }

  ThrottledTime throttled_;
};

TEST_F(ThrottledTimeTest, IsTheSumOfAllIntervalsOfAnId) {
  Add(Throttle{{.time = 100, .id = kId}});
  Add(Throttle{{.time = 110, .id = kOther}});
  Add(Unthrottle{{.time = 130, .id = kId}});
  Add(Unthrottle{{.time = 150, .id = kOther}});
  Add(Throttle{{.time = 200, .id = kId}});
  Add(Unthrottle{{.time = 205, .id = kId}});
  EXPECT_EQ(throttled_.Of(kId, kEndNs), (Sum{.times = 2, .throttled_ns = 35}));
  EXPECT_EQ(throttled_.Of(kOther, kEndNs), (Sum{.times = 1, .throttled_ns = 40}));
  EXPECT_EQ(throttled_.Of(7, kEndNs), Sum{});
}

TEST_F(ThrottledTimeTest, AnIntervalWithoutEndLastsUntilTheEndOfTheRecording) {
  Add(Throttle{{.time = 100, .id = kId}});
  Add(Unthrottle{{.time = 130, .id = kId}});
  Add(Throttle{{.time = 900, .id = kId}});
  EXPECT_EQ(throttled_.Of(kId, kEndNs), (Sum{.times = 2, .throttled_ns = 130}));
  // The kernel throttled the event between the end of the recording and its own.
  EXPECT_EQ(throttled_.Of(kId, 899), (Sum{.times = 2, .throttled_ns = 30}));
  EXPECT_EQ(throttled_.Of(kId, std::nullopt), (Sum{.times = 2, .throttled_ns = 30}));
}

TEST_F(ThrottledTimeTest, LeavesOutAnIntervalWithALostRecord) {
  Add(Unthrottle{{.time = 50, .id = kId}});
  Add(Throttle{{.time = 100, .id = kId}});
  Add(Throttle{{.time = 200, .id = kId}});
  Add(Unthrottle{{.time = 210, .id = kId}});
  EXPECT_EQ(throttled_.Of(kId, kEndNs), (Sum{.times = 2, .throttled_ns = 10}));
}

TEST_F(ThrottledTimeTest, AnEventThatWasClosedIsNoLongerThrottled) {
  Add(Throttle{{.time = 100, .id = kId}});
  throttled_.Abandon(kId);
  throttled_.Abandon(kOther);
  EXPECT_EQ(throttled_.Of(kId, kEndNs), (Sum{.times = 1, .throttled_ns = 0}));
  EXPECT_EQ(throttled_.Of(kOther, kEndNs), Sum{});
}

TEST_F(ThrottledTimeTest, IgnoresOtherAndShortRecords) {
  Add(perfdata::Lost{.event_id = kId, .count = 5});
  std::vector<std::byte> bytes;
  ASSERT_TRUE(perfdata::Encode(Throttle{{.time = 100, .id = kId}}, {}, kTestFormat, 0, bytes));
  perfdata::RecordView record = RecordsIn(bytes).at(0);
  const Bytes whole = record.payload;
  for (std::size_t size = 0; size < 3 * sizeof(std::uint64_t); ++size) {
    record.payload = whole.first(size);
    throttled_.Add(record, kTestFormat);
  }
  EXPECT_EQ(throttled_.Of(kId, kEndNs), Sum{});
}

}  // namespace
}  // namespace perftape::record
