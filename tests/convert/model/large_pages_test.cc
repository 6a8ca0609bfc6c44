// SPDX-License-Identifier: Apache-2.0
#include "convert/model/large_pages.h"

#include <gtest/gtest.h>

#include <vector>

namespace perftape::convert {
namespace {

TEST(LargePages, HoldsATableThatGrowsFromSmallToLarge) {
  constexpr std::uint32_t kMany = 5'000'000;  // 20 MB
  std::vector<std::uint32_t, LargePages<std::uint32_t>> table;
  for (std::uint32_t i = 0; i < kMany; ++i) table.push_back(i);
  for (std::uint32_t i = 0; i < kMany; ++i) ASSERT_EQ(table[i], i);
  table.shrink_to_fit();
  EXPECT_EQ(table.back(), kMany - 1);
}

}  // namespace
}  // namespace perftape::convert
