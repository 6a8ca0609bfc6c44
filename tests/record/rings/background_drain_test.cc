// SPDX-License-Identifier: Apache-2.0
#include "record/rings/background_drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <string_view>

#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

constexpr std::chrono::milliseconds kInterval{1};

TEST(BackgroundDrain, DrainsWhileTheCallerIsBusy) {
  const UniqueFd never(eventfd(0, EFD_CLOEXEC));
  std::atomic<int> calls = 0;
  BackgroundDrain drain =
      BackgroundDrain::Start({.readable_fd = never.get(), .interval = kInterval}, [&]() -> Status {
        ++calls;
        calls.notify_one();
        return {};
      }).value();
  for (int seen = 0; seen < 3; seen = calls) calls.wait(seen);
  EXPECT_THAT(drain.Stop(), IsOk());
  const int after = calls;
  EXPECT_THAT(drain.Stop(), IsOk());
  EXPECT_EQ(calls, after) << "called after its end";
}

TEST(BackgroundDrain, EndsAtTheFirstErrorAndReturnsIt) {
  const UniqueFd readable(eventfd(1, EFD_CLOEXEC));
  std::atomic<int> calls = 0;
  BackgroundDrain drain =
      BackgroundDrain::Start({.readable_fd = readable.get(), .interval = kInterval},
                             [&]() -> Status {
                               ++calls;
                               calls.notify_one();
                               return Fail(ErrorCode::kCorrupt, "broken ring");
                             })
          .value();
  calls.wait(0);
  EXPECT_THAT(drain.Stop(), FailsWith(ErrorCode::kCorrupt, "broken ring"));
  EXPECT_EQ(calls, 1);
}

TEST(BackgroundDrain, DoesNotWaitForALongFirstCall) {
  const UniqueFd never(eventfd(0, EFD_CLOEXEC));
  std::atomic<bool> may_end = false;
  BackgroundDrain drain =
      BackgroundDrain::Start(
          {.readable_fd = never.get(), .interval = kInterval, .longest_first = kInterval},
          [&]() -> Status {
            may_end.wait(false);
            return {};
          })
          .value();
  may_end = true;  // only the caller of Start can do it
  may_end.notify_all();
  EXPECT_THAT(drain.Stop(), IsOk());
}

TEST(BackgroundDrain, EndsWithItsOwner) {
  const UniqueFd never(eventfd(0, EFD_CLOEXEC));
  std::atomic<bool> is_alive = true;
  {
    const BackgroundDrain drain =
        BackgroundDrain::Start({.readable_fd = never.get(), .interval = kInterval},
                               [&]() -> Status {
                                 EXPECT_TRUE(is_alive);
                                 return {};
                               })
            .value();
  }
  is_alive = false;
}

TEST(DrainedRecords, ReturnsWhatWasAddedOnce) {
  DrainedRecords records;
  records.Add(AsBytes("one"));
  records.Add(AsBytes("two"));
  EXPECT_EQ(AsText(records.Release()), "onetwo");
  EXPECT_TRUE(records.Release().empty());
}

TEST(DrainedRecords, KeepsWhatWasReleasedUntilTheNextRelease) {
  DrainedRecords records;
  records.Add(AsBytes("released"));
  const Bytes released = records.Release();
  records.Add(AsBytes("added"));
  EXPECT_EQ(AsText(released), "released");
  EXPECT_EQ(AsText(records.Release()), "added");
}

TEST(DrainedRecords, IsFullUntilItsRecordsAreReleased) {
  DrainedRecords records(4);
  records.Add(AsBytes("one"));
  EXPECT_FALSE(records.is_full());
  records.Add(AsBytes("two"));
  EXPECT_TRUE(records.is_full());
  (void)records.Release();
  EXPECT_FALSE(records.is_full());
}

}  // namespace
}  // namespace perftape::record
