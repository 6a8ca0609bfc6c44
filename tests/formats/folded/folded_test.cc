// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/folded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/matchers.h"

namespace perftape::folded {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::string_view line; ReadLine(text, line);) lines.emplace_back(line);
  return lines;
}

TEST(ReadLine, GivesEachLineWithoutItsEnd) {
  EXPECT_THAT(Lines("a 1\nb 2\n"), ElementsAre("a 1", "b 2"));
  EXPECT_THAT(Lines("a 1\r\nb 2\r\n"), ElementsAre("a 1", "b 2"));
  EXPECT_THAT(Lines("a 1\n\nb 2"), ElementsAre("a 1", "", "b 2"));
  EXPECT_THAT(Lines(""), ElementsAre());
}

TEST(ReadLine, DropsSpacesAtTheEnd) {
  EXPECT_THAT(Lines(" a 1 \t\r\n  \n"), ElementsAre(" a 1", ""));
}

// Austin and other samplers write such comments.
TEST(ReadLine, LeavesNothingOfAComment) {
  EXPECT_THAT(Lines("# interval: 100\n# mode: wall\n#\na 1"), ElementsAre("", "", "", "a 1"));
  EXPECT_THAT(Lines("#a 1\n # b 2\na;# 3"), ElementsAre("#a 1", " # b 2", "a;# 3"));
}

TEST(ParseLine, SplitsStackAndCount) {
  const Result<Line> line = ParseLine("main;a b;c 42", Columns::kOne);
  ASSERT_THAT(line, IsOk());
  EXPECT_EQ(line->stack, "main;a b;c");
  EXPECT_EQ(line->count.whole, 42U);
}

TEST(ParseLine, TreatsOneSpaceOrTabAsSeparator) {
  EXPECT_EQ(ParseLine("a;b\t7", Columns::kOne)->stack, "a;b");
  EXPECT_EQ(ParseLine("a;b \t 7", Columns::kOne)->stack, "a;b \t");
  EXPECT_EQ(ParseLine("a;  7", Columns::kOne)->stack, "a; ");
}

TEST(ParseLine, AcceptsAStackOfOneEmptyFrame) {
  EXPECT_EQ(ParseLine(" 7", Columns::kOne)->stack, "");
  EXPECT_EQ(ParseLine("a;;b; 7", Columns::kOne)->stack, "a;;b;");
}

TEST(ParseLine, ParsesTwoCounts) {
  const Result<Line> line = ParseLine("a;b 3 4.5", Columns::kTwo);
  ASSERT_THAT(line, IsOk());
  EXPECT_EQ(line->stack, "a;b");
  EXPECT_EQ(line->before.whole, 3U);
  EXPECT_EQ(line->count.fraction, "5");
  EXPECT_EQ(ParseLine("a;b 3 4.5", Columns::kOne)->stack, "a;b 3");
}

TEST(ParseLine, RefusesWhatHasTooFewCounts) {
  for (const char* line : {"", "7", "main", "main;f", "main x", "main 1x"}) {
    EXPECT_THAT(ParseLine(line, Columns::kOne),
                FailsWith(ErrorCode::kCorrupt, HasSubstr("no count")))
        << line;
  }
  EXPECT_THAT(ParseLine("main 7", Columns::kTwo),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("not two")));
}

}  // namespace
}  // namespace perftape::folded
