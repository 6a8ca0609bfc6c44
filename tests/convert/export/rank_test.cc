// SPDX-License-Identifier: Apache-2.0
#include "convert/export/rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;

TEST(RankAll, OrdersEntriesByTheirContent) {
  ProfileMaker made;
  made.Map("/z");
  made.Map("/a");
  made.Frame("zero");
  made.Frame("add");
  made.Runs("x", 2, 2);
  made.Runs("y", 1, 9);
  made.Runs("x", 1, 9);
  const Ranks ranks = RankAll(made.Make());
  EXPECT_THAT(ranks.mappings, ElementsAre(0, 2, 1));
  EXPECT_THAT(ranks.functions, ElementsAre(1, 0));
  EXPECT_THAT(ranks.locations, ElementsAre(1, 0));
  EXPECT_THAT(ranks.threads, ElementsAre(0, 3, 2, 1));
}

TEST(RankAll, OrdersLocationsByMappingOffsetAndLines) {
  ProfileMaker made;
  const MappingId z = made.Map("/z");
  const MappingId a = made.Map("/a");
  made.Frame(z, 0x10);
  made.Frame(a, 0x20);
  made.Frame(a, 0x10, {"f", "g"});
  made.Frame(a, 0x10, {"f"});
  EXPECT_THAT(RankAll(made.Make()).locations, ElementsAre(3, 2, 1, 0));
}

TEST(RankAll, OrdersStacksByTheirFramesRootFirst) {
  ProfileMaker made;
  const StackId z = made.Calls({"z"});
  const StackId ab = made.Calls({"a", "b"});
  const StackId ac = made.Calls({"a", "c"});
  const StackId a = made.Calls({"a"});
  const StackId abz = made.Calls({"a", "b", "z"});
  const Ranks ranks = RankAll(made.Make());
  const auto in_order = InOrder(ranks.stacks);
  EXPECT_THAT(in_order, ElementsAre(0, a.index, ab.index, abz.index, ac.index, z.index));
}

TEST(RankAll, AcceptsTheEmptyProfile) {
  EXPECT_THAT(RankAll(Profile()).stacks, ElementsAre(0));
}

}  // namespace
}  // namespace perftape::convert
