// SPDX-License-Identifier: Apache-2.0
#include "record/scope/recently_used.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsNull;
using testing::Pointee;

std::vector<int> ValuesOf(const RecentlyUsed<int>& map) {
  std::vector<int> values;
  map.ForEach([&](int value) { values.push_back(value); });
  return values;
}

TEST(RecentlyUsed, ForgetsTheHalfThatWasNotUsedForTheLongestTime) {
  RecentlyUsed<int> map(4);
  for (int i = 1; i <= 4; ++i) map.Set(std::to_string(i), i);
  EXPECT_THAT(map.Find("1"), Pointee(1));
  map.Set("2", 20);
  map.Set("5", 5);
  EXPECT_THAT(ValuesOf(map), ElementsAre(1, 20, 5));
  EXPECT_THAT(map.Find("3"), IsNull());
}

TEST(RecentlyUsed, NeverHasMoreThanItsLimit) {
  RecentlyUsed<int> map(10);
  for (int i = 0; i < 1000; ++i) {
    map.Set(std::to_string(i), i);
    EXPECT_LE(ValuesOf(map).size(), 10U);
    EXPECT_THAT(map.Find(std::to_string(i)), Pointee(i));
  }
}

}  // namespace
}  // namespace perftape::record
