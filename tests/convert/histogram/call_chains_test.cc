// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/call_chains.h"

#include <gmock/gmock.h>

#include <string_view>
#include <vector>

namespace perftape::histogram {
namespace {

using testing::ElementsAre;

class CallChainsTest : public testing::Test {
 protected:
  // Each letter is a function: "ab" is a chain of two frames.
  std::vector<Frame> ChainOf(std::string_view letters) {
    std::vector<Frame> chain;
    for (const char letter : letters) {
      const std::uint32_t name = names_.texts.Add(std::string_view(&letter, 1));
      const auto address = static_cast<std::uint64_t>(letter);
      chain.push_back({.symbol = names_.symbols.Add({.name = name, .dso = 0, .start = address}),
                       .address = address});
    }
    return chain;
  }
  void Add(std::string_view letters, std::uint64_t period = 1) {
    chains_.Add(ChainOf(letters), period, ChainKey::kFunction, names_);
  }
  std::string TextOf(const ChainNode& node) const {
    std::string text;
    for (const Frame& frame : node.frames) text += names_.texts[names_.symbols[frame.symbol].name];
    return text;
  }
  std::vector<std::string> TextsOf(const std::vector<const ChainNode*>& nodes) const {
    std::vector<std::string> texts;
    for (const ChainNode* node : nodes) texts.push_back(TextOf(*node));
    return texts;
  }

  NameTable names_;
  CallChains chains_;
};

TEST_F(CallChainsTest, SplitsANodeWhereChainsDiffer) {
  Add("abcd", 3);
  Add("abxy", 5);
  const auto top = chains_.Sort(ChainMode::kGraph, 0, 0);
  EXPECT_THAT(TextsOf(top), ElementsAre("ab"));
  EXPECT_EQ(top[0]->total_hits(), 8U);
  EXPECT_THAT(TextsOf(top[0]->sorted), ElementsAre("xy", "cd"));
}

TEST_F(CallChainsTest, CountsAChainThatEndsInsideAnother) {
  Add("abc", 3);
  Add("a", 2);
  const auto top = chains_.Sort(ChainMode::kGraph, 0, 0);
  EXPECT_THAT(TextsOf(top), ElementsAre("a"));
  EXPECT_EQ(top[0]->hits, 2U);
  EXPECT_EQ(top[0]->children_hits, 3U);
  EXPECT_EQ(top[0]->total_count(), 2U);
}

TEST_F(CallChainsTest, LeavesOutNodesBelowTheThreshold) {
  Add("ab", 9);
  Add("ac", 1);
  const auto graph = chains_.Sort(ChainMode::kGraph, 2, 0);
  EXPECT_THAT(TextsOf(graph[0]->sorted), ElementsAre("b"));
  const auto fractal = chains_.Sort(ChainMode::kFractal, 0, 0.5);
  EXPECT_THAT(TextsOf(fractal[0]->sorted), ElementsAre("b"));
}

TEST_F(CallChainsTest, SortsEqualNodesFromTheHighestAddress) {
  for (const char* chain : {"ab", "ad", "ac"}) Add(chain);
  const auto top = chains_.Sort(ChainMode::kGraph, 0, 0);
  EXPECT_THAT(TextsOf(top[0]->sorted), ElementsAre("d", "c", "b"));
}

TEST_F(CallChainsTest, ListsWholeChainsByTheirOwnHits) {
  Add("ab", 2);
  Add("a", 5);
  EXPECT_THAT(TextsOf(chains_.Sort(ChainMode::kFlat, 0, 0)), ElementsAre("a", "b"));
}

TEST_F(CallChainsTest, KeepsAddressesOfOneFunctionApartOnRequest) {
  std::vector<Frame> first = ChainOf("a"), second = ChainOf("a");
  second[0].address += 4;
  chains_.Add(first, 1, ChainKey::kAddress, names_);
  chains_.Add(second, 1, ChainKey::kAddress, names_);
  EXPECT_EQ(chains_.Sort(ChainMode::kGraph, 0, 0).size(), 2U);
}

}  // namespace
}  // namespace perftape::histogram
