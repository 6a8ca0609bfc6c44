// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/folded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace perftape::folded {
namespace {

using testing::ElementsAre;

std::string Frame(std::string_view frame) {
  std::string out;
  AppendFrame(out, frame);
  return out;
}

std::string Line(std::vector<std::string_view> frames, std::uint64_t count) {
  std::string out;
  AppendLine(out, frames, count);
  return out;
}

TEST(AppendFrame, KeepsOrdinaryNamesAsTheyAre) {
  EXPECT_EQ(Frame("main"), "main");
  EXPECT_EQ(Frame("std::map<int, char>::at(int const&) const"),
            "std::map<int, char>::at(int const&) const");
  EXPECT_EQ(Frame("f\xc3\xbcr"), "f\xc3\xbcr");
}

TEST(AppendFrame, ReplacesWhatWouldEndTheFrameOrTheLine) {
  EXPECT_EQ(Frame("a;b"), "a:b");
  EXPECT_EQ(Frame("a\nb\rc"), "a b c");
  EXPECT_EQ(Frame(std::string_view("a\0b", 3)), "a b");
}

TEST(AppendFrame, TrimsSpacesAtTheEndOnly) {
  EXPECT_EQ(Frame(" a  b \n "), " a  b");
}

TEST(AppendFrame, MarksAFrameThatEndsInASpaceAndDigits) {
  EXPECT_EQ(Frame("id 12"), "id 12_");
  EXPECT_EQ(Frame("id;12"), "id:12");
  EXPECT_EQ(Frame("id\n12"), "id 12_");
  EXPECT_EQ(Frame("id12"), "id12");
  EXPECT_EQ(Frame("12"), "12");
  EXPECT_EQ(Frame(" 12"), " 12_");
}

TEST(AppendFrame, LooksAtThisFrameOnly) {
  std::string out = "id ";
  AppendFrame(out, "7");
  EXPECT_EQ(out, "id 7");
}

TEST(AppendFrame, NamesWhatHasNoName) {
  EXPECT_EQ(Frame(""), "[unknown]");
  EXPECT_EQ(Frame(" \n"), "[unknown]");
}

TEST(AppendLine, JoinsFramesAndCount) {
  EXPECT_EQ(Line({"main", "f", "g"}, 3), "main;f;g 3\n");
  EXPECT_EQ(Line({"main"}, 18'446'744'073'709'551'615U), "main 18446744073709551615\n");
}

TEST(AppendLine, WritesAStackWithoutFramesAsUnknown) {
  EXPECT_EQ(Line({}, 3), "[unknown] 3\n");
}

TEST(ParseFoldedLine, SplitsFramesAndCount) {
  const Result<StackLine> line = ParseFoldedLine("main;a b;c 42\n");
  ASSERT_TRUE(line);
  EXPECT_THAT(line->frames, ElementsAre("main", "a b", "c"));
  EXPECT_EQ(line->count, 42U);
  EXPECT_FALSE(line->had_fraction);
}

TEST(ParseFoldedLine, TakesALineEndOfWindowsAndNone) {
  EXPECT_EQ(ParseFoldedLine("a 1\r\n")->count, 1U);
  EXPECT_EQ(ParseFoldedLine("a 1")->count, 1U);
}

TEST(ParseFoldedLine, TakesManySpacesBeforeTheCount) {
  EXPECT_THAT(ParseFoldedLine("a;b   7")->frames, ElementsAre("a", "b"));
}

TEST(ParseFoldedLine, KeepsEmptyFrames) {
  EXPECT_THAT(ParseFoldedLine("a;;b; 1")->frames, ElementsAre("a", "", "b", ""));
}

TEST(ParseFoldedLine, CutsFractionsOffAndSaysSo) {
  const Result<StackLine> line = ParseFoldedLine("a 12.7");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->count, 12U);
  EXPECT_TRUE(line->had_fraction);
  EXPECT_FALSE(ParseFoldedLine("a 12.0")->had_fraction);
  EXPECT_EQ(ParseFoldedLine("a 12.")->count, 12U);
}

TEST(ParseFoldedLine, RefusesWhatHasNoCount) {
  for (const char* line : {"", "\n", "main", "main;f", "main x", "main -1", "main 1x", "main 1.x",
                           "main +1", "main 1.2.3", "main .5", "main 0x10"}) {
    const Result<StackLine> parsed = ParseFoldedLine(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ParseFoldedLine, RefusesACountWithoutFrames) {
  EXPECT_FALSE(ParseFoldedLine(" 12"));
  EXPECT_FALSE(ParseFoldedLine("12"));
}

TEST(ParseFoldedLine, RefusesACountThatNoWordHolds) {
  EXPECT_TRUE(ParseFoldedLine("a 18446744073709551615"));
  EXPECT_FALSE(ParseFoldedLine("a 18446744073709551616"));
  EXPECT_FALSE(ParseFoldedLine("a 99999999999999999999999999999999"));
}

// Whatever the names are, the number of frames and the count are read back, and what was read is
// written as the same line again.
RC_GTEST_PROP(FoldedLine, IsReadAsItWasWritten,
              (const std::vector<std::string>& names, std::uint64_t count)) {
  RC_PRE(!names.empty());
  const std::string written = Line({names.begin(), names.end()}, count);
  RC_ASSERT(std::ranges::count(written, '\n') == 1);
  const Result<StackLine> read = ParseFoldedLine(written);
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->frames.size() == names.size());
  RC_ASSERT(read->count == count);
  RC_ASSERT(Line(read->frames, read->count) == written);
}

}  // namespace
}  // namespace perftape::folded
