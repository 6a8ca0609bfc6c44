// SPDX-License-Identifier: Apache-2.0
#include "convert/frames/stack_trie.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

struct Named {
  std::string name;
};
using Trie = StackTrie<Named>;

// "a(b,c)": the children of a node, the newest first.
std::string Describe(const Trie& trie, std::uint32_t node = 0) {
  std::string text = trie[node].name;
  if (trie[node].first_child == 0) return text;
  text += '(';
  for (std::uint32_t i = trie[node].first_child; i != 0; i = trie[i].next_sibling) {
    text += Describe(trie, i) + (trie[i].next_sibling == 0 ? ")" : ",");
  }
  return text;
}

std::uint32_t AddTo(Trie& trie, const Profile& profile, StackId stack) {
  return trie.NodeOf(stack, [&](std::uint32_t node, LocationId location, AddressKind) {
    for (const Line& line : profile[location].lines) {
      node = trie.AddChild(node, {std::string(profile.text(profile[line.function].name))});
    }
    return node;
  });
}

TEST(StackTrie, HasOneNodeForACommonCaller) {
  ProfileMaker made;
  const StackId one = made.Calls({"main", "parse", "read"});
  const StackId two = made.Calls({"main", "parse", "alloc"});
  const StackId three = made.Calls({"main"});
  const Profile profile = made.Make();
  Trie trie(profile);
  EXPECT_EQ(trie[AddTo(trie, profile, one)].name, "read");
  EXPECT_EQ(trie[AddTo(trie, profile, two)].name, "alloc");
  EXPECT_EQ(trie[AddTo(trie, profile, three)].name, "main");
  EXPECT_EQ(Describe(trie), "(main(parse(alloc,read)))");
}

TEST(StackTrie, FindsAStackAgain) {
  ProfileMaker made;
  const StackId stack = made.Calls({"main", "parse"});
  const Profile profile = made.Make();
  Trie trie(profile);
  const std::uint32_t node = AddTo(trie, profile, stack);
  EXPECT_EQ(AddTo(trie, profile, stack), node);
  EXPECT_EQ(trie.nodes().size(), 3U);
}

TEST(StackTrie, KeepsLeavesApartFromCallers) {
  ProfileMaker made;
  const StackId leaf = made.Calls({"main"});
  const StackId called = made.Calls({"main", "parse"});
  const Profile profile = made.Make();
  Trie trie(profile, AddressKinds::kApart);
  AddTo(trie, profile, leaf);
  AddTo(trie, profile, called);
  EXPECT_EQ(Describe(trie), "(main(parse),main)");
}

TEST(StackTrie, SharesNoNodesBetweenRoots) {
  ProfileMaker made;
  const StackId stack = made.Calls({"main"});
  const Profile profile = made.Make();
  Trie trie(profile);
  for (const char* thread : {"one", "two"}) {
    trie.StartBelow(trie.AddChild(0, {thread}));
    AddTo(trie, profile, stack);
  }
  EXPECT_EQ(Describe(trie), "(two(main),one(main))");
}

TEST(StackTrie, EndsAStackWithoutFramesAtTheRoot) {
  const Profile profile = ProfileMaker().Make();
  Trie trie(profile);
  EXPECT_EQ(AddTo(trie, profile, StackId{}), 0U);
  const std::uint32_t root = trie.AddChild(0, {"thread"});
  trie.StartBelow(root);
  EXPECT_EQ(AddTo(trie, profile, StackId{}), root);
}

}  // namespace
}  // namespace perftape::convert
