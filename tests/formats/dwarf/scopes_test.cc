// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/scopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace perftape::dwarf {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<std::pair<std::uint64_t, std::uint32_t>> Flat(std::vector<ScopeExtent> extents) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> starts;
  for (const ScopeStart& start : Flatten(extents)) {
    starts.emplace_back(start.start, start.scope);
  }
  return starts;
}

TEST(Flatten, GivesCodeBackToTheCallerBehindWhatWasInlined) {
  EXPECT_THAT(Flat({{{10, 50}, 0}, {{20, 30}, 1}, {{24, 30}, 2}}),
              ElementsAre(Pair(10, 0), Pair(20, 1), Pair(24, 2), Pair(30, 0), Pair(50, kNoScope)));
}

TEST(Flatten, LeavesGapsBetweenFunctions) {
  EXPECT_THAT(Flat({{{40, 50}, 1}, {{10, 20}, 0}}),
              ElementsAre(Pair(10, 0), Pair(20, kNoScope), Pair(40, 1), Pair(50, kNoScope)));
}

TEST(Flatten, PrefersTheLaterOfTwoOverlappingFunctions) {
  EXPECT_THAT(Flat({{{10, 20}, 0}, {{10, 20}, 1}}), ElementsAre(Pair(10, 1), Pair(20, kNoScope)));
}

TEST(Flatten, OrdersManyFunctionsFarApartAsItOrdersFew) {
  constexpr std::uint64_t kFunctions = 5000, kApart = 0x12345678;
  std::vector<ScopeExtent> extents;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < kFunctions; ++i) {
    const std::uint64_t backwards = (kFunctions - i) * kApart, start = i * kApart;
    extents.push_back({{backwards - kApart, backwards - kApart + 8}, 2 * i + 1});  // inlined
    extents.push_back({{backwards - kApart, backwards - kApart + 20}, 2 * i});     // into this
    const auto scope = static_cast<std::uint32_t>(2 * (kFunctions - 1 - i));
    expected.insert(expected.end(),
                    {{start, scope + 1}, {start + 8, scope}, {start + 20, kNoScope}});
  }
  EXPECT_EQ(Flat(extents), expected);
}

TEST(Flatten, EndsWhatBeganEarlierWhereTwoOverlap) {
  EXPECT_THAT(Flat({{{10, 20}, 0}, {{15, 30}, 1}}),
              ElementsAre(Pair(10, 0), Pair(15, 1), Pair(30, kNoScope)));
}

}  // namespace
}  // namespace perftape::dwarf
