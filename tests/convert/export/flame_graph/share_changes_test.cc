// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/share_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/export/differential.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::flame_graph {
namespace {

using convert::EventId;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;

// Returns the tree of the difference of two profiles with the event "cycles".
StackTree TreeOf(const Profile& before, const Profile& after) {
  const Profile both = convert::MakeDifferential(before, after);
  const convert::EventPair pair = convert::ChooseEventPair(both).value();
  RootedFrameTable frames(both, {.root = folded::Root::kNone, .differential = true});
  const StackForest forest = StackForest::Of(both, {pair.after, pair.before}, frames);
  return forest.Join(frames.Ranks());
}

TEST(ShareChanges, AreOfSharesAndNotOfNumbers) {
  ProfileMaker before, after;
  const EventId old_cycles = before.Counts("cycles");
  before.Hit(before.Calls({"main", "f"}), {}, old_cycles, 10);
  before.Hit(before.Calls({"main", "g"}), {}, old_cycles, 30);
  const EventId new_cycles = after.Counts("cycles");
  after.Hit(after.Calls({"main", "f"}), {}, new_cycles, 2);
  after.Hit(after.Calls({"main", "g"}), {}, new_cycles, 2);
  const StackTree tree = TreeOf(before.Make(), after.Make());
  ASSERT_EQ(tree.nodes.size(), 3);
  const ShareChanges changes(tree, GoneSamples(tree));
  EXPECT_DOUBLE_EQ(changes.Of(0), 0);
  EXPECT_DOUBLE_EQ(changes.Of(1), 25);
  EXPECT_DOUBLE_EQ(changes.Before(2), 75);
  EXPECT_DOUBLE_EQ(changes.After(2), 50);
  EXPECT_DOUBLE_EQ(changes.largest(), 25);
  EXPECT_EQ(changes.total_before(), 40);
  EXPECT_EQ(changes.gone(), 0);
}

TEST(ShareChanges, MatchBuildsByName) {
  ProfileMaker before, after;
  const MappingId old_app = before.Map("/old/app-1.0");
  before.Hit(
      before.Calls({before.Frame(old_app, 0x10, {"main"}), before.Frame(old_app, 0x20, {"parse"})}),
      {}, before.Counts("cycles"), 5);
  // The new build inlines parse.
  after.Hit(after.Calls({after.Frame(after.Map("/new/app-1.1"), 0x40, {"parse", "main"})}), {},
            after.Counts("cycles"), 5);
  const StackTree tree = TreeOf(before.Make(), after.Make());
  ASSERT_EQ(tree.nodes.size(), 2);
  EXPECT_EQ(tree.nodes[1].self, 5);
  EXPECT_EQ(tree.nodes[1].before, 5);
}

TEST(GoneSamples, AreInCallsThatOnlyBeforeHas) {
  ProfileMaker before, after;
  const EventId old_cycles = before.Counts("cycles");
  before.Hit(before.Calls({"main"}), {}, old_cycles, 1);
  before.Hit(before.Calls({"main", "gone"}), {}, old_cycles, 2);
  before.Hit(before.Calls({"main", "gone", "deeper"}), {}, old_cycles, 4);
  after.Hit(after.Calls({"main"}), {}, after.Counts("cycles"), 1);
  StackTree tree = TreeOf(before.Make(), after.Make());
  EXPECT_EQ(GoneSamples(tree), 6);
  FoldSmallCalls(tree, TotalsOf(tree), 1);
  ASSERT_EQ(tree.nodes.size(), 1);
  EXPECT_EQ(tree.nodes[0].before, 7);
}

}  // namespace
}  // namespace perftape::flame_graph
