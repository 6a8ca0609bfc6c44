// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/importer.h"

#include <gtest/gtest.h>

namespace perftape::serve {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(Importer, OpensSymbolsAgainAfterAnHourOrWhenTheyHaveMuchMemory) {
  constexpr std::uint64_t kLittle = std::uint64_t{200} << 20, kMuch = std::uint64_t{300} << 20;
  EXPECT_FALSE(IsTimeToReopen(minutes(60), kLittle));
  EXPECT_TRUE(IsTimeToReopen(minutes(61), kLittle));
  EXPECT_FALSE(IsTimeToReopen(seconds(60), kMuch));
  EXPECT_TRUE(IsTimeToReopen(seconds(61), kMuch));
}

}  // namespace
}  // namespace perftape::serve
