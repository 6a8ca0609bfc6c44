// SPDX-License-Identifier: Apache-2.0
#include "formats/perf_map/perf_map.h"

#include <gtest/gtest.h>

namespace perftape::perf_map {
namespace {

TEST(PerfMap, FindsTheFunctionThatContainsAnAddress) {
  const PerfMap map = PerfMap::Parse("7f0010 20 LazyCompile:~add app.js:3\n7f0040 8 stub\n");
  EXPECT_EQ(map.Find({0x7f000f}).name, "");
  EXPECT_EQ(map.Find({0x7f0010}).name, "LazyCompile:~add app.js:3");
  EXPECT_EQ(map.Find({0x7f002f}).name, "LazyCompile:~add app.js:3");
  EXPECT_EQ(map.Find({0x7f0030}).name, "");
  EXPECT_EQ(map.Find({0x7f0047}).name, "stub");
}

TEST(PerfMap, AcceptsPrefixesTabsAndCarriageReturns) {
  const PerfMap map = PerfMap::Parse("0x10\t0x10\tfirst\r\n20 10 second");
  EXPECT_EQ(map.Find({0x10}).name, "first");
  EXPECT_EQ(map.Find({0x2f}).name, "second");
}

TEST(PerfMap, ReadsByteOrderMarks) {
  EXPECT_EQ(PerfMap::Parse("\xef\xbb\xbf"
                           "10 10 first\n")
                .Find({0x10})
                .name,
            "first");
  const std::string utf16(
      "\xfe\xff\0"
      "1\0"
      "0\0 \0"
      "1\0 \0f",
      14);
  EXPECT_EQ(PerfMap::Parse(utf16).Find({0x10}).name, "f");
}

TEST(PerfMap, LetsTheLaterLineWinWhereRangesOverlap) {
  const PerfMap map = PerfMap::Parse("100 100 old\n140 20 inside\n1f0 20 across\n");
  EXPECT_EQ(map.Find({0x13f}).name, "old");
  EXPECT_EQ(map.Find({0x140}).name, "inside");
  EXPECT_EQ(map.Find({0x160}).name, "old");
  EXPECT_EQ(map.Find({0x160}).offset, 0x60);
  EXPECT_EQ(map.Find({0x145}).offset, 5);
  EXPECT_EQ(map.Find({0x1ef}).name, "old");
  EXPECT_EQ(map.Find({0x1f0}).name, "across");
  EXPECT_EQ(map.Find({0x20f}).name, "across");
}

TEST(PerfMap, ForgetsWhatALaterLineCoversWhole) {
  const PerfMap map = PerfMap::Parse("110 10 a\n120 10 b\n130 20 c\n100 40 new\n");
  EXPECT_EQ(map.size(), 2U);
  EXPECT_EQ(map.Find({0x110}).name, "new");
  EXPECT_EQ(map.Find({0x13f}).name, "new");
  EXPECT_EQ(map.Find({0x140}).name, "c");
}

TEST(PerfMap, LeavesOutLinesThatAreNone) {
  const PerfMap map = PerfMap::Parse(
      "\n10 10 good\nbad\n10\n10 10\n10 zz x\nffffffffffffffff 2 wraps\n"
      "11112222333344445555 1 x\n");
  EXPECT_EQ(map.size(), 1U);
}

TEST(PerfMap, IgnoresFunctionsOfNoSize) {
  EXPECT_EQ(PerfMap::Parse("10 0 empty\n").size(), 0U);
}

TEST(PerfMap, ReadsWholeLinesWhereverTheTextIsCut) {
  const std::string text = "10 10 first\n20 10 second\n18 10 third\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const PerfMap map = PerfMap::Parse(text.substr(0, size));
    EXPECT_LE(map.size(), 4U) << size;
    EXPECT_EQ(map.Find({0x30}).name, "");
  }
}

}  // namespace
}  // namespace perftape::perf_map
