// SPDX-License-Identifier: Apache-2.0
#include "convert/import/unwound_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using Locations = std::vector<std::uint64_t>;

// The locations of a stack, leaf first, and its root at the end.
Locations FramesOf(const UnwoundStacks& stacks, UnwoundStacks::Id id) {
  Locations frames;
  for (; id >= UnwoundStacks::kFirstFrame; id = stacks.nodes()[id].caller) {
    frames.push_back(stacks.nodes()[id].location);
  }
  frames.push_back(id);
  return frames;
}

TEST(UnwoundStacks, KeepsEqualStacksOnce) {
  UnwoundStacks stacks;
  const auto one = stacks.Add(Locations{30, 20, 10}, UnwoundStacks::kWhole);
  const auto other = stacks.Add(Locations{31, 20, 10}, UnwoundStacks::kWhole);
  const auto caller = stacks.Add(Locations{20, 10}, UnwoundStacks::kWhole);
  EXPECT_NE(one, other);
  EXPECT_EQ(stacks.Add(Locations{30, 20, 10}, UnwoundStacks::kWhole), one);
  EXPECT_THAT(FramesOf(stacks, one), ElementsAre(30, 20, 10, UnwoundStacks::kWhole));
  EXPECT_EQ(stacks.nodes()[one].frames, 3);
  EXPECT_EQ(stacks.nodes()[one].caller, caller);
  EXPECT_EQ(stacks.nodes()[other].caller, caller);
}

TEST(UnwoundStacks, KeepsCutStacksApart) {
  UnwoundStacks stacks;
  const auto whole = stacks.Add(Locations{20, 10}, UnwoundStacks::kWhole);
  const auto cut = stacks.Add(Locations{20, 10}, UnwoundStacks::kCut);
  EXPECT_NE(whole, cut);
  EXPECT_THAT(FramesOf(stacks, cut), ElementsAre(20, 10, UnwoundStacks::kCut));
  EXPECT_EQ(stacks.Add(Locations{}, UnwoundStacks::kCut), UnwoundStacks::kCut);
}

TEST(UnwoundStacks, AddsAnotherTree) {
  UnwoundStacks stacks, other;
  const auto known = stacks.Add(Locations{2, 1}, UnwoundStacks::kWhole);
  const auto added = other.Add(Locations{3, 1}, UnwoundStacks::kWhole);
  const auto same = other.Add(Locations{2, 1}, UnwoundStacks::kWhole);
  const auto cut = other.Add(Locations{9}, UnwoundStacks::kCut);
  const auto ids = stacks.AddAll(other);
  EXPECT_EQ(ids[same], known);
  EXPECT_THAT(FramesOf(stacks, ids[added]), ElementsAre(3, 1, UnwoundStacks::kWhole));
  EXPECT_THAT(FramesOf(stacks, ids[cut]), ElementsAre(9, UnwoundStacks::kCut));
  EXPECT_EQ(stacks.nodes().size(), UnwoundStacks::kFirstFrame + 4);
  EXPECT_EQ(stacks.Add(Locations{3, 1}, UnwoundStacks::kWhole), ids[added]);
}

// Stacks of few different frames, so that most share callers with an earlier one.
TEST(UnwoundStacks, HasAllOfManyStacks) {
  UnwoundStacks stacks;
  std::vector<Locations> added;
  std::vector<UnwoundStacks::Id> ids;
  std::uint64_t random = 1;
  for (int i = 0; i < 5000; ++i) {
    Locations frames(static_cast<std::size_t>(i) % 17 + 1);
    for (std::uint64_t& frame : frames) {
      random = random * 6364136223846793005 + 1442695040888963407;
      frame = random >> 62;
    }
    ids.push_back(stacks.Add(frames, UnwoundStacks::kWhole));
    added.push_back(frames);
  }
  for (std::size_t i = 0; i < added.size(); ++i) {
    added[i].push_back(UnwoundStacks::kWhole);
    ASSERT_EQ(FramesOf(stacks, ids[i]), added[i]);
  }
  std::ranges::sort(added);
  std::ranges::sort(ids);
  const auto distinct = [](auto& all) { return std::unique(all.begin(), all.end()) - all.begin(); };
  EXPECT_EQ(distinct(ids), distinct(added));
}

}  // namespace
}  // namespace perftape::convert
