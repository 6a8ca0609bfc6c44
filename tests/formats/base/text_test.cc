// SPDX-License-Identifier: Apache-2.0
#include "formats/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perftape {
namespace {

TEST(Trimmed, LeavesBlanksInTheMiddle) {
  EXPECT_EQ(Trimmed(" \t unsigned int \r"), "unsigned int");
  EXPECT_EQ(Trimmed("int"), "int");
}

TEST(Trimmed, IsEmptyWithoutOtherCharacters) {
  EXPECT_EQ(Trimmed(" \t\r"), "");
  EXPECT_EQ(Trimmed(""), "");
}

TEST(Joined, HasSeparatorsBetweenElementsOnly) {
  EXPECT_EQ(Joined(std::vector<std::string>{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Joined(std::vector<int>{7}, ", "), "7");
  EXPECT_EQ(Joined(std::vector<int>{}, ", "), "");
}

}  // namespace
}  // namespace perftape
