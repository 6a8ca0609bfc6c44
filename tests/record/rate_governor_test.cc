// SPDX-License-Identifier: Apache-2.0
#include "record/rate_governor.h"

#include <gmock/gmock.h>

#include "formats/base/duration.h"

namespace perftape::record {
namespace {

using testing::Eq;
using testing::Optional;

TEST(RateGovernor, LowersTheRateUntilTheCostWouldBeBelowTheLimit) {
  RateGovernor governor(5, kNsPerSecond, 0);
  EXPECT_EQ(governor.Check(kNsPerSecond + kNsPerSecond / 2, kNsPerSecond / 2),
            std::nullopt);                                                        // too early
  EXPECT_EQ(governor.Check(2 * kNsPerSecond, kNsPerSecond / 100), std::nullopt);  // 1 %
  // 16 %: a quarter of it is 4 %.
  EXPECT_THAT(governor.Check(3 * kNsPerSecond, kNsPerSecond / 100 * 17), Optional(Eq(4)));
  ASSERT_EQ(governor.rates().size(), 2);
  EXPECT_EQ(governor.rates()[1].time_ns, 3 * kNsPerSecond);
  EXPECT_DOUBLE_EQ(governor.rates()[1].cpu_percent, 16);
}

TEST(RateGovernor, RaisesItAfterFiveCheapSeconds) {
  RateGovernor governor(5, 0, 0);
  ASSERT_THAT(governor.Check(kNsPerSecond, kNsPerSecond / 10), Optional(Eq(2)));
  for (std::uint64_t second = 2; second <= 5; ++second) {
    EXPECT_EQ(governor.Check(second * kNsPerSecond, kNsPerSecond / 10), std::nullopt);
  }
  EXPECT_THAT(governor.Check(6 * kNsPerSecond, kNsPerSecond / 10), Optional(Eq(1)));
  for (std::uint64_t second = 7; second <= 20; ++second) {
    EXPECT_EQ(governor.Check(second * kNsPerSecond, kNsPerSecond / 10), std::nullopt);
  }
}

TEST(RateGovernor, HasALowestRate) {
  RateGovernor governor(0.001, 0, 0);
  EXPECT_THAT(governor.Check(kNsPerSecond, kNsPerSecond), Optional(Eq(1024)));
  EXPECT_EQ(governor.Check(2 * kNsPerSecond, 2 * kNsPerSecond), std::nullopt);
}

}  // namespace
}  // namespace perftape::record
