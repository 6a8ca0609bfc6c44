// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/amount.h"

#include <gmock/gmock.h>

#include <cstdint>

#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::Profile;
using convert::ProfileMaker;
using convert::StackId;

TEST(StackAmounts, AddsThePeriodsOfOneEventForEachStack) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("page-faults");
  const StackId main = made.Calls({"main"});
  const StackId work = made.Calls({"main", "work"});
  made.Hit(main, made.Runs("a", 1, 1), cycles, 1, 100);
  made.Hit(main, made.Runs("b", 2, 2), cycles, 2, 300);
  made.Hit(work, made.Runs("a", 1, 1), cycles, 1, 50);
  made.Hit(work, made.Runs("a", 1, 1), faults, 9, 9);
  const Profile profile = made.Make();

  const StackAmounts amounts(profile, cycles);

  EXPECT_EQ(amounts[main], (Amount{.samples = 3, .weight = 400}));
  EXPECT_EQ(amounts[work], (Amount{.samples = 1, .weight = 50}));
  EXPECT_EQ(amounts.total(), (Amount{.samples = 4, .weight = 450}));
  EXPECT_TRUE(amounts.has_periods());
}

TEST(StackAmounts, CountsSamplesIfTheEventHasNoPeriods) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const StackId main = made.Calls({"main"});
  made.Hit(main, made.Runs("a"), event, 7, 0);
  const Profile profile = made.Make();

  const StackAmounts amounts(profile, event);

  EXPECT_FALSE(amounts.has_periods());
  EXPECT_EQ(amounts.total(), (Amount{.samples = 7, .weight = 7}));
}

// pprof: leak +20 %, freed -80 %, main -60 %.
TEST(StackAmounts, ComputeSharesOfADifferenceOfItsAbsoluteValues) {
  ProfileMaker made;
  const EventId space = made.CountsPlainly("inuse_space", "bytes");
  const StackId leak = made.Calls({"main", "leak"});
  const StackId freed = made.Calls({"main", "freed"});
  made.Hit(leak, {}, space, 0, 512);
  made.Hit(freed, {}, space, 0, -2048);
  const Profile profile = made.Make();

  const StackAmounts amounts(profile, space);

  EXPECT_TRUE(amounts.is_difference());
  EXPECT_EQ(amounts.total().weight, -1536);
  EXPECT_EQ(PercentOf(amounts[leak], amounts.whole()), 20);
  EXPECT_EQ(PercentOf(amounts[freed], amounts.whole()), -80);
  EXPECT_EQ(PercentOf(amounts.total(), amounts.whole()), -60);
}

TEST(SizeOf, HasNoSign) {
  EXPECT_EQ(SizeOf({.samples = 0, .weight = -7}), 7);
  EXPECT_EQ(SizeOf({.samples = 0, .weight = INT64_MIN}), INT64_MAX);
}

TEST(Amount, StopsAtTheLimitsOfItsType) {
  Amount sum = {.samples = INT64_MAX, .weight = INT64_MIN};
  sum.Add({.samples = 1, .weight = -1});
  EXPECT_EQ(sum, (Amount{.samples = INT64_MAX, .weight = INT64_MIN}));
}

TEST(PercentOf, IsZeroOfAnEmptyWhole) {
  EXPECT_EQ(PercentOf({.samples = 1, .weight = 1}, {}), 0);
  EXPECT_EQ(PercentOf({.samples = 1, .weight = 1}, {.samples = 4, .weight = 8}), 12.5);
}

}  // namespace
}  // namespace perftape::summarize
