// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/unwind_arena.h"

#include <gtest/gtest.h>

namespace perftape::record {
namespace {

constexpr std::uint64_t kStart = 1'000'000'000;

TEST(UnwindArena, FillsAllOfTheArrayAndNoMore) {
  UnwindArena arena(10);
  EXPECT_EQ(arena.Allocate(4, kStart), 0U);
  EXPECT_EQ(arena.Allocate(6, kStart), 4U);
  EXPECT_EQ(arena.Allocate(1, kStart), std::nullopt);
}

TEST(UnwindArena, ReusesARegionOnlyAfterItsGraceTime) {
  UnwindArena arena(4);
  ASSERT_EQ(arena.Allocate(4, kStart), 0U);
  arena.Free(0, 4, kStart);
  EXPECT_TRUE(arena.has_waiting());
  EXPECT_EQ(arena.Allocate(1, kStart + UnwindArena::kGraceNs - 1), std::nullopt);
  EXPECT_EQ(arena.Allocate(4, kStart + UnwindArena::kGraceNs), 0U);
  EXPECT_FALSE(arena.has_waiting());
}

TEST(UnwindArena, JoinsFreeNeighboursInAnyOrder) {
  UnwindArena arena(9);
  for (int i = 0; i < 3; ++i) (void)arena.Allocate(3, kStart);
  arena.Free(0, 3, kStart);
  arena.Free(6, 3, kStart);
  arena.Free(3, 3, kStart);
  EXPECT_EQ(arena.Allocate(9, kStart + UnwindArena::kGraceNs), 0U);
}

}  // namespace
}  // namespace perftape::record
