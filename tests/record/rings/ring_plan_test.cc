// SPDX-License-Identifier: Apache-2.0
#include "record/rings/ring_plan.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

namespace perftape::record {
namespace {

constexpr std::size_t kMib = std::size_t{1} << 20;

TEST(RingPlan, HasOneRingForFewCpus) {
  for (const std::size_t cpus : {0U, 1U, 2U, 7U, 8U}) {
    EXPECT_EQ(PlanRings(cpus, 99, 0, kMib, {}).rings, 1U) << cpus;
  }
}

TEST(RingPlan, HasARingForEachEightOfManyCpus) {
  EXPECT_EQ(PlanRings(9, 99, 0, kMib, {}).rings, 2U);
  EXPECT_EQ(PlanRings(64, 99, 0, kMib, {}).rings, 8U);
  EXPECT_EQ(PlanRings(65, 99, 0, kMib, {}).rings, 16U);
  EXPECT_EQ(PlanRings(192, 99, 0, kMib, {}).rings, 32U);
}

TEST(RingPlan, GrowsWithCpusAndRate) {
  EXPECT_EQ(PlanRings(1, 99, 0, kMib, {}).bytes, kMib);
  EXPECT_EQ(PlanRings(2, 999, 0, kMib, {}).bytes, 4 * kMib);
  EXPECT_EQ(PlanRings(8, 999, 0, kMib, {}).bytes, 16 * kMib);
  EXPECT_EQ(PlanRings(64, 999, 0, kMib, {}).bytes, 16 * kMib) << "for each eight of them";
  EXPECT_EQ(PlanRings(2, 1'000'000, 0, kMib, {}).bytes, 16 * kMib) << "the most";
  EXPECT_EQ(PlanRings(2, UINT64_MAX, 0, kMib, {}).bytes, 16 * kMib);
}

TEST(RingPlan, HasTheLeastSize) {
  EXPECT_EQ(PlanRings(1, 99, 0, 4 * kMib, {}).bytes, 4 * kMib);
  EXPECT_EQ(PlanRings(8, 999, 0, 4 * kMib, {}).bytes, 16 * kMib);
}

TEST(RingPlan, HasPowersOfTwo) {
  for (std::size_t cpus = 1; cpus < 300; ++cpus) {
    const RingPlan plan = PlanRings(cpus, 20'000, 0, kMib, {});
    EXPECT_TRUE(std::has_single_bit(plan.rings) && std::has_single_bit(plan.bytes)) << cpus;
    EXPECT_LE(plan.bytes, 64 * kMib) << cpus;
  }
}

TEST(RingPlan, UsesTheRequestedSize) {
  EXPECT_EQ(PlanRings(64, 999, 0, kMib, 4096).bytes, 4096U);
  EXPECT_EQ(PlanRings(64, 999, 0, kMib, 4096).rings, 8U);
}

TEST(RingPlan, IsDescribedForPeople) {
  EXPECT_EQ(RingPlanText({.rings = 1, .bytes = 4096}), "1 ring buffer of 4 KiB");
  EXPECT_EQ(RingPlanText({.rings = 8, .bytes = 16 * kMib}), "8 ring buffers of 16 MiB");
}

TEST(PlanRings, HasRoomForCopiesOfStacks) {
  EXPECT_EQ(PlanRings(1, 99, 8192, kMib, {}).bytes, 2 * kMib);
  EXPECT_EQ(PlanRings(2, 99, 65528, kMib, {}).bytes, 32 * kMib);
  EXPECT_EQ(PlanRings(8, 49999, 65528, kMib, {}).bytes, 256 * kMib) << "the most";
  EXPECT_EQ(PlanRings(8, UINT64_MAX, 65528, kMib, {}).bytes, 256 * kMib);
}

}  // namespace
}  // namespace perftape::record
