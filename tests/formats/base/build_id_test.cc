// SPDX-License-Identifier: Apache-2.0
#include "formats/base/build_id.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

TEST(BuildId, ReadsAndWritesHexadecimalDigits) {
  const std::optional<BuildId> id = BuildId::FromHex("00ff10Ab");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->size, 4);
  EXPECT_EQ(id->hex(), "00ff10ab");
}

TEST(BuildId, IsNotMadeOfWhatIsNotHexadecimal) {
  for (const char* text : {"", "0", "0g", "-1", "0x12", " 12"}) {
    EXPECT_FALSE(BuildId::FromHex(text)) << text;
  }
  EXPECT_FALSE(BuildId::FromHex(std::string(42, 'a')));
}

TEST(BuildId, KeepsTheFirstTwentyBytesOfALongerOne) {
  EXPECT_EQ(BuildId::From(AsBytes("0123456789abcdefghijKLM")),
            BuildId::From(AsBytes("0123456789abcdefghij")));
}

TEST(BuildId, MatchesItselfPaddedWithZerosAsOldPerfRecordsIt) {
  const BuildId true_size = *BuildId::FromHex("0123456789abcdef");
  const BuildId padded = *BuildId::FromHex("0123456789abcdef000000000000000000000000");
  EXPECT_NE(true_size, padded);
  EXPECT_TRUE(true_size.Matches(padded));
  EXPECT_FALSE(true_size.Matches(*BuildId::FromHex("0123456789abcd")));
}

TEST(BuildId, MatchesNothingWhereItIsEmpty) {
  EXPECT_FALSE(BuildId{}.Matches(BuildId{}));
}

}  // namespace
}  // namespace perftape
