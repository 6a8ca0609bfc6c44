// SPDX-License-Identifier: Apache-2.0
#include "formats/base/utf8.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

TEST(ToValidUtf8, KeepsTextOfAllLengths) {
  // U+0041, U+00E9, U+20AC, U+1F600, and the ends of the ranges
  for (const char* text :
       {"", "A", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\x7f", "\xc2\x80", "\xdf\xbf",
        "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(ToValidUtf8(text), text);
  }
}

TEST(ToValidUtf8, KeepsNul) {
  EXPECT_EQ(ToValidUtf8(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

TEST(ToValidUtf8, ReplacesEachByteOfNoCharacter) {
  EXPECT_EQ(ToValidUtf8("a\xff"
                        "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(ToValidUtf8("\x80"), "\xef\xbf\xbd");
  EXPECT_EQ(ToValidUtf8("\xc3"), "\xef\xbf\xbd");
  EXPECT_EQ(ToValidUtf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(ToValidUtf8("\xc3(\xc3\xa9"), "\xef\xbf\xbd(\xc3\xa9");
}

TEST(ToValidUtf8, ReplacesOverlongFormsSurrogatesAndWhatIsAboveUnicode) {
  const std::string two = "\xef\xbf\xbd\xef\xbf\xbd";
  const std::string three = two + "\xef\xbf\xbd";
  EXPECT_EQ(ToValidUtf8("\xc0\x80"), two);
  EXPECT_EQ(ToValidUtf8("\xe0\x80\x80"), three);
  EXPECT_EQ(ToValidUtf8("\xed\xa0\x80"), three);
  EXPECT_EQ(ToValidUtf8("\xf4\x90\x80\x80"), three + "\xef\xbf\xbd");
}

}  // namespace
}  // namespace perftape
