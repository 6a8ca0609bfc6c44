// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/call_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::Profile;
using convert::ProfileMaker;
using testing::ElementsAre;
using testing::IsEmpty;

void AppendText(const CallTree& tree, const convert::FrameTable& frames, TreeNodeId node,
                std::string indent, std::vector<std::string>& lines) {
  for (const TreeNodeId child : tree.ChildrenOf(node)) {
    lines.push_back(fmt::format("{}{} {}/{}", indent, frames.NameOf(tree[child].frame),
                                tree[child].self.weight, tree[child].total.weight));
    AppendText(tree, frames, child, indent + " ", lines);
  }
}

// Returns the nodes as lines " work 5/8", with the weights of self and total.
std::vector<std::string> Lines(const Profile& profile, TreeDirection direction,
                               std::string_view start_at = {}) {
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  TreeOptions options = {.direction = direction};
  for (std::uint32_t i = 0; !start_at.empty() && i < frames.size(); ++i) {
    options.start_at.push_back(frames.NameOf(i) == start_at);
  }
  const CallTree tree(profile, frames, StackAmounts(profile, EventId{}), options);
  std::vector<std::string> lines;
  AppendText(tree, frames, 0, "", lines);
  return lines;
}

Profile Example() {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  made.Hit(made.Calls({"main", "read", "copy"}), made.Runs("app"), event, 1, 5);
  made.Hit(made.Calls({"main", "write", "copy"}), made.Runs("app"), event, 1, 3);
  made.Hit(made.Calls({"main", "write"}), made.Runs("app"), event, 1, 4);
  return made.Make();
}

TEST(CallTree, GoesFromCallersToCallees) {
  EXPECT_THAT(Lines(Example(), TreeDirection::kCallees),
              ElementsAre("main 0/12", " write 4/7", "  copy 3/3", " read 0/5", "  copy 5/5"));
}

TEST(CallTree, GoesFromCalleesToCallers) {
  EXPECT_THAT(Lines(Example(), TreeDirection::kCallers),
              ElementsAre("copy 0/8", " read 0/5", "  main 5/5", " write 0/3", "  main 3/3",
                          "write 0/4", " main 4/4"));
}

TEST(CallTree, StartsAtAFunction) {
  EXPECT_THAT(Lines(Example(), TreeDirection::kCallees, "write"),
              ElementsAre("write 4/7", " copy 3/3"));
  EXPECT_THAT(Lines(Example(), TreeDirection::kCallers, "write"),
              ElementsAre("write 0/7", " main 7/7"));
  EXPECT_THAT(Lines(Example(), TreeDirection::kCallers, "absent"), IsEmpty());
}

TEST(CallTree, CountsARecursiveStartOnce) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  made.Hit(made.Calls({"main", "walk", "walk", "leaf"}), made.Runs("app"), event, 1, 5);
  const Profile profile = made.Make();

  EXPECT_THAT(Lines(profile, TreeDirection::kCallees, "walk"),
              ElementsAre("walk 0/5", " walk 0/5", "  leaf 5/5"));
  EXPECT_THAT(Lines(profile, TreeDirection::kCallers, "walk"),
              ElementsAre("walk 0/5", " walk 0/5", "  main 5/5"));
}

TEST(CallTree, HasOneFunctionBelowManyOthers) {
  constexpr std::uint32_t kCallers = 20'000;
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const convert::LocationId copy = made.Frame("copy");
  for (std::uint32_t i = 0; i < kCallers; ++i) {
    made.Hit(made.Calls({made.Frame(fmt::format("caller {}", i)), copy}), made.Runs("app"), event,
             1, 1);
  }
  const Profile profile = made.Make();
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  const CallTree tree(profile, frames, StackAmounts(profile, EventId{}), {});
  EXPECT_THAT(tree.ChildrenOf(0), testing::SizeIs(kCallers));
  EXPECT_THAT(tree.ChildrenOf(tree.ChildrenOf(0)[0]), testing::SizeIs(1));
}

TEST(CallTree, OfNoSamplesIsOnlyItsRoot) {
  EXPECT_THAT(Lines(Profile(), TreeDirection::kCallees), IsEmpty());
}

TEST(LargestStacks, ReturnsTheEndsOfTheMostFrequentStacks) {
  const Profile profile = Example();
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  const CallTree tree(profile, frames, StackAmounts(profile, EventId{}), {});

  std::vector<std::string> ends;
  for (const TreeNodeId node : LargestStacks(tree, 2)) {
    ends.emplace_back(frames.NameOf(tree[tree[node].parent].frame));
    ends.back().append(";").append(frames.NameOf(tree[node].frame));
  }
  EXPECT_THAT(ends, ElementsAre("read;copy", "main;write"));
  EXPECT_EQ(LargestStacks(tree, 100).size(), 3U);
}

}  // namespace
}  // namespace perftape::summarize
