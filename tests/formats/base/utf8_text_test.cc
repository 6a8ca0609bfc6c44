// SPDX-License-Identifier: Apache-2.0
#include "formats/base/utf8_text.h"

#include <gtest/gtest.h>

#include <string>

namespace perftape {
namespace {

using namespace std::string_view_literals;

std::string Decoded(std::string_view file) {
  return std::string(Utf8Text(AsBytes(file)).view());
}

TEST(Utf8Text, KeepsBytesWithoutAByteOrderMark) {
  EXPECT_EQ(Decoded("f\xc3\xbc 1\n"), "f\xc3\xbc 1\n");
  EXPECT_EQ(Decoded("\xff 1"), "\xff 1");
  EXPECT_EQ(Decoded(""), "");
}

TEST(Utf8Text, DropsTheMarkOfUtf8) {
  EXPECT_EQ(Decoded("\xef\xbb\xbf"
                    "a 1"),
            "a 1");
}

TEST(Utf8Text, DecodesUtf16OfBothByteOrders) {
  EXPECT_EQ(Decoded("\xff\xfe"
                    "a\0\xfc\0\x3d\xd8\x00\xde\xac\x20"sv),
            "a\xc3\xbc\xf0\x9f\x98\x80\xe2\x82\xac");
  EXPECT_EQ(Decoded("\xfe\xff\0a\0\xfc\xd8\x3d\xde\x00\x20\xac"sv),
            "a\xc3\xbc\xf0\x9f\x98\x80\xe2\x82\xac");
}

TEST(Utf8Text, CountsWhatIsNoCharacter) {
  for (const std::string_view file : {"\xff\xfe\x3d\xd8"sv,
                                      "\xff\xfe\x3d\xd8"
                                      "a\0"sv,
                                      "\xff\xfe\x00\xde"sv,
                                      "\xff\xfe"
                                      "a\0b"sv}) {
    const Utf8Text text(AsBytes(file));
    EXPECT_EQ(text.broken(), 1U);
    EXPECT_NE(text.view().find("\xef\xbf\xbd"), std::string_view::npos);
  }
}

TEST(MarkBefore, GuardsATextThatBeginsLikeAMark) {
  EXPECT_EQ(MarkBefore("main 1"), "");
  for (const std::string_view text : {"\xef\xbb\xbf 1"sv, "\xff\xfe 1"sv, "\xfe\xff 1"sv}) {
    EXPECT_EQ(Decoded(std::string(MarkBefore(text)) + std::string(text)), text);
  }
}

}  // namespace
}  // namespace perftape
