// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/stack_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "convert/export/differential.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::flame_graph {
namespace {

using convert::EventId;
using convert::FoldedOptions;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
using testing::ElementsAre;
using testing::IsEmpty;

struct Trees {
  Profile profile;
  RootedFrameTable frames;
  StackTree tree;
  Trees(const Profile& made, EventId event, const FoldedOptions& options = {})
      : profile(made), frames(profile, options) {
    const StackForest forest = StackForest::Of(profile, event, frames);
    tree = forest.Join(frames.Ranks());
  }

  // Returns "depth name self" of each node, with " +folded" if calls were folded into it.
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const StackNode& node : tree.nodes) {
      const std::string folded = node.folded == 0 ? "" : fmt::format(" +{}", node.folded);
      lines.push_back(
          fmt::format("{} {} {}{}", node.depth, frames.NameOf(node.frame), node.self, folded));
    }
    return lines;
  }
};

// Returns "sample name" for each sample of the tree.
std::vector<std::string> SampleLines(const StackTree& tree, const RootedFrameTable& frames) {
  std::vector<std::string> lines;
  for (const SampleNode& at : tree.samples) {
    lines.push_back(fmt::format("{} {}", at.sample, frames.NameOf(tree.nodes[at.node].frame)));
  }
  return lines;
}

TEST(StackTree, KeepsInWhichNodeSamplesEnd) {
  ProfileMaker made;
  const convert::ThreadId app = made.Runs("app");
  const EventId cycles = made.Counts("cycles");
  const MappingId mapping = made.Map("/bin/app");
  // Two addresses of a function are one node.
  made.Hit(made.Calls({made.Frame(mapping, 1, {"z"}), made.Frame(mapping, 3, {"a"})}), app, cycles,
           9);
  made.Hit(made.Calls({made.Frame(mapping, 2, {"z"})}), app, cycles, 1);
  made.Hit(made.Calls({"b"}), app, cycles, 5);
  const Profile profile = made.Make();
  RootedFrameTable frames(profile, {});
  const StackForest forest = StackForest::Of(profile, cycles, frames, KeepSamples::kYes);
  StackTree tree = forest.Join(frames.Ranks());
  EXPECT_THAT(SampleLines(tree, frames), ElementsAre("0 a", "1 z", "2 b"));
  FoldSmallCalls(tree, TotalsOf(tree), 10);
  EXPECT_THAT(SampleLines(tree, frames), ElementsAre("0 z", "1 z", "2 app"));
  EXPECT_THAT(Trees(profile, cycles).tree.samples, IsEmpty());
}

TEST(StackTree, IsInPreorderSortedByName) {
  ProfileMaker made;
  const convert::ThreadId app = made.Runs("app");
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "z"}), app, cycles, 1);
  made.Hit(made.Calls({"main"}), app, cycles, 2);
  made.Hit(made.Calls({"main", "a", "x"}), app, cycles, 3);
  const Trees trees(made.Make(), cycles);
  EXPECT_THAT(trees.Lines(), ElementsAre("0 app 0", "1 main 2", "2 a 0", "3 x 3", "2 z 1"));
  EXPECT_EQ(trees.tree.total(), 6);
  EXPECT_THAT(TotalsOf(trees.tree), ElementsAre(6, 6, 3, 3, 1));
}

TEST(StackTree, JoinsAddressesAndThreadsOfOneName) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const MappingId app = made.Map("/bin/app");
  made.Hit(made.Calls({made.Frame(app, 0x10, {"f"}), made.Frame(app, 0x30, {"g"})}),
           made.Runs("app", 1, 1), cycles, 1);
  made.Hit(made.Calls({made.Frame(app, 0x20, {"f"}), made.Frame(app, 0x40, {"g"})}),
           made.Runs("app", 2, 2), cycles, 2);
  const Profile profile = made.Make();
  EXPECT_THAT(Trees(profile, cycles).Lines(), ElementsAre("0 app 0", "1 f 0", "2 g 3"));
  EXPECT_THAT(Trees(profile, cycles, {.root = folded::Root::kNone}).Lines(),
              ElementsAre("0 f 0", "1 g 3"));
  EXPECT_THAT(Trees(profile, cycles, {.root = folded::Root::kCommPid}).Lines(),
              ElementsAre("0 app-1 0", "1 f 0", "2 g 1", "0 app-2 0", "1 f 0", "2 g 2"));
}

TEST(StackTree, TellsCallsWithoutNamesApartByTheirOffsets) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const MappingId cc1 = made.Map("/bin/cc1");
  const LocationId outer = made.Frame(cc1, 0x1f2), inner = made.Frame(cc1, 0x2a0);
  const LocationId named = made.Frame(cc1, 0x300, {"main"});
  const convert::ThreadId app = made.Runs("app");
  // Each sampled instruction has another offset: it is a frame of the file.
  made.Hit(made.Calls({named, outer, inner, made.Frame(cc1, 0x2b0)}), app, cycles, 1);
  made.Hit(made.Calls({named, outer, inner, made.Frame(cc1, 0x2b8)}), app, cycles, 2);
  made.Hit(made.Calls({named, outer, inner}), app, cycles, 4);
  const Profile profile = made.Make();
  EXPECT_THAT(Trees(profile, cycles).Lines(),
              ElementsAre("0 app 0", "1 main 0", "2 [cc1+0x1f2] 0", "3 [cc1+0x2a0] 0", "4 [cc1] 3",
                          "3 [cc1] 4"));
  // Two builds have other offsets.
  EXPECT_THAT(Trees(profile, cycles, {.differential = true}).Lines(),
              ElementsAre("0 app 0", "1 main 0", "2 [cc1] 0", "3 [cc1] 4", "4 [cc1] 3"));
}

TEST(StackTree, ContainsOneEvent) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("faults");
  made.Hit(made.Calls({"f"}), {}, cycles, 1, 1000);
  made.Hit(made.Calls({"g"}), {}, faults, 2);
  const Profile profile = made.Make();
  EXPECT_THAT(Trees(profile, faults).Lines(), ElementsAre("0 g 2"));
  EXPECT_THAT(Trees(profile, cycles, {.value = convert::FoldedValue::kPeriod}).Lines(),
              ElementsAre("0 f 1000"));
}

TEST(StackTree, HasBothNumbersOfASampledEvent) {
  ProfileMaker made;
  const EventId wait = made.Counts("offcpu-time", "nanoseconds");
  made.Hit(made.Calls({"f"}), {}, wait, 1, 400);
  made.Hit(made.Calls({"g"}), {}, wait, 80, 100);
  made.Hit(made.Calls({"no_time"}), {}, wait, 1, 0);
  const Profile profile = made.Make();
  const Trees by_time(profile, wait);
  EXPECT_EQ(by_time.tree.value, convert::FoldedValue::kPeriod);
  EXPECT_THAT(by_time.Lines(), ElementsAre("0 f 400", "0 g 100", "0 no_time 0"));
  EXPECT_THAT(TotalsOf(by_time.tree, &StackNode::other), ElementsAre(1, 80, 1));
  const Trees by_samples(profile, wait, {.value = convert::FoldedValue::kSamples});
  EXPECT_THAT(by_samples.Lines(), ElementsAre("0 f 1", "0 g 80", "0 no_time 1"));
  EXPECT_THAT(TotalsOf(by_samples.tree, &StackNode::other), ElementsAre(400, 100, 0));
}

TEST(StackTree, HasAFrameForAStackWithoutFrames) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit({}, {}, cycles, 4);
  EXPECT_THAT(Trees(made.Make(), cycles).Lines(), ElementsAre("0 [unknown] 4"));
}

TEST(StackTree, LeavesOutAndCountsNegativeNumbers) {
  ProfileMaker made;
  const EventId value = made.CountsPlainly("delta");
  made.Hit(made.Calls({"less"}), made.Runs("a"), value, 0, -3);
  made.Hit(made.Calls({"same"}), made.Runs("b"), value, 0, 0);
  const Trees trees(made.Make(), value);
  EXPECT_THAT(trees.Lines(), IsEmpty());
  EXPECT_EQ(trees.tree.negative_samples, 1);
}

TEST(StackTree, SaturatesItsSums) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"f"}), {}, cycles, kMost);
  made.Hit(made.Calls({"f", "g"}), {}, cycles, kMost);
  const Trees trees(made.Make(), cycles);
  EXPECT_EQ(trees.tree.total(), kMost);
  EXPECT_THAT(TotalsOf(trees.tree), ElementsAre(kMost, kMost));
}

TEST(FoldSmallCalls, AddsThemToTheirCaller) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "big"}), {}, cycles, 90);
  made.Hit(made.Calls({"main", "small"}), {}, cycles, 1);
  made.Hit(made.Calls({"main", "small", "smaller"}), {}, cycles, 2);
  made.Hit(made.Calls({"tiny"}), {}, cycles, 1);
  Trees trees(made.Make(), cycles);
  FoldSmallCalls(trees.tree, TotalsOf(trees.tree), 4);
  EXPECT_THAT(trees.Lines(), ElementsAre("0 main 3 +2", "1 big 90", "0 tiny 1"));
}

TEST(FirstTimesOf, AreTheEarliestOfAllCallsBelow) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const auto hit = [&](convert::StackId stack, std::uint32_t first_ms) {
    made.builder.Add(
        convert::Sample{.stack = stack, .event = cycles, .count = 1, .first_ms = first_ms});
  };
  hit(made.Calls({"main", "a", "x"}), 30);
  hit(made.Calls({"main", "a"}), 50);
  hit(made.Calls({"main", "b"}), 20);
  hit(made.Calls({"main", "b"}), 10);
  hit(made.Calls({"other"}), convert::Sample::kNoTime);
  const Trees trees(made.Make(), cycles);
  EXPECT_THAT(trees.Lines(), ElementsAre("0 main 0", "1 a 1", "2 x 1", "1 b 2", "0 other 1"));
  EXPECT_THAT(FirstTimesOf(trees.tree), ElementsAre(10, 30, 30, 10, convert::Sample::kNoTime));
}

TEST(SmallestForAtMost, KeepsTheLargest) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  for (std::int64_t i = 1; i <= 9; ++i) {
    made.Hit(made.Calls({"main", fmt::format("f{}", i)}), {}, cycles, i);
  }
  Trees trees(made.Make(), cycles);
  const std::vector<std::int64_t> totals = TotalsOf(trees.tree);
  EXPECT_EQ(SmallestForAtMost(totals, 10), 0);
  EXPECT_EQ(SmallestForAtMost(totals, 4), 7);
  FoldSmallCalls(trees.tree, totals, 7);
  EXPECT_THAT(trees.Lines(), ElementsAre("0 main 21 +6", "1 f7 7", "1 f8 8", "1 f9 9"));
  EXPECT_EQ(trees.tree.total(), 45);
}

// Returns the tree of the difference of two profiles with the event "cycles".
StackTree TreeOf(const Profile& before, const Profile& after) {
  const Profile both = convert::MakeDifferential(before, after);
  const convert::EventPair pair = convert::ChooseEventPair(both).value();
  RootedFrameTable frames(both, {.root = folded::Root::kNone, .differential = true});
  const StackForest forest = StackForest::Of(both, {pair.after, pair.before}, frames);
  return forest.Join(frames.Ranks());
}

TEST(SideChanges, AreOfSharesAndNotOfNumbers) {
  ProfileMaker before, after;
  const EventId old_cycles = before.Counts("cycles");
  before.Hit(before.Calls({"main", "f"}), {}, old_cycles, 10);
  before.Hit(before.Calls({"main", "g"}), {}, old_cycles, 30);
  const EventId new_cycles = after.Counts("cycles");
  after.Hit(after.Calls({"main", "f"}), {}, new_cycles, 2);
  after.Hit(after.Calls({"main", "g"}), {}, new_cycles, 2);
  const StackTree tree = TreeOf(before.Make(), after.Make());
  ASSERT_EQ(tree.nodes.size(), 3);
  const SideChanges changes(tree, GoneSamples(tree));
  EXPECT_DOUBLE_EQ(changes.Of(0), 0);
  EXPECT_DOUBLE_EQ(changes.Of(1), 25);
  EXPECT_DOUBLE_EQ(changes.Before(2), 75);
  EXPECT_DOUBLE_EQ(changes.After(2), 50);
  EXPECT_DOUBLE_EQ(changes.largest(), 25);
  EXPECT_EQ(changes.total_before(), 40);
  EXPECT_EQ(changes.gone(), 0);
  EXPECT_EQ(changes.OfAll(), 0);
  const SideChanges of_numbers(tree, GoneSamples(tree), Compared::kNumbers);
  EXPECT_DOUBLE_EQ(of_numbers.Of(1), -8) << "its share became larger";
  EXPECT_EQ(of_numbers.NumberBefore(2), 30);
  EXPECT_DOUBLE_EQ(of_numbers.OfAll(), -36);
  EXPECT_DOUBLE_EQ(of_numbers.largest(), 36) << "that of all";
}

TEST(SideChanges, MatchBuildsByName) {
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
