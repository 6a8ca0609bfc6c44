// SPDX-License-Identifier: Apache-2.0
#include "formats/base/similar.h"

#include <gmock/gmock.h>

namespace perftape {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kNames[] = {"record", "convert", "recover", "bundle"};

TEST(EditDistance, CountsInsertedDeletedAndReplacedLetters) {
  EXPECT_EQ(EditDistance("record", "record"), 0U);
  EXPECT_EQ(EditDistance("record", "recrd"), 1U);
  EXPECT_EQ(EditDistance("record", "recoord"), 1U);
  EXPECT_EQ(EditDistance("record", "rekord"), 1U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
}

TEST(MostSimilar, AreThoseThatBeginSo) {
  EXPECT_THAT(MostSimilar("rec", kNames), ElementsAre("record", "recover"));
  EXPECT_THAT(MostSimilar("con", kNames), ElementsAre("convert"));
}

TEST(MostSimilar, AreElseTheNearest) {
  EXPECT_THAT(MostSimilar("covnert", kNames), ElementsAre("convert"));
  EXPECT_THAT(MostSimilar("recort", kNames), ElementsAre("record"));
}

TEST(MostSimilar, AreNoneWhereNothingIsNear) {
  EXPECT_THAT(MostSimilar("walk", kNames), IsEmpty());
  EXPECT_THAT(MostSimilar("", kNames), IsEmpty());
}

}  // namespace
}  // namespace perftape
