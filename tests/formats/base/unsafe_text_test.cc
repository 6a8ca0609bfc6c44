// SPDX-License-Identifier: Apache-2.0
#include "formats/base/unsafe_text.h"

#include <gtest/gtest.h>

#include "formats/base/utf8.h"

namespace perftape {
namespace {

TEST(IsUnsafe, IsTrueOfControlAndBidiCharacters) {
  for (const char32_t value :
       std::initializer_list<char32_t>{0x0, 0x9, 0xa, 0x1b, 0x7f, 0x80, 0x9b, 0x9f, 0x61c, 0x200e,
                                       0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069}) {
    EXPECT_TRUE(IsUnsafe(value)) << static_cast<unsigned>(value);
  }
  for (const char32_t value :
       std::initializer_list<char32_t>{0x20, 0x41, 0x7e, 0xa0, 0xe9, 0x5d0, 0x200d, 0x2010, 0x2027,
                                       0x202f, 0x2065, 0x206a, 0x1f600}) {
    EXPECT_FALSE(IsUnsafe(value)) << static_cast<unsigned>(value);
  }
}

TEST(FindUnsafe, FindsTheFirstOne) {
  const auto found = FindUnsafe("d\xc3\xa9j\xc3\xa0\xe2\x80\xaevu");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, 6U);
  EXPECT_EQ(found->size, 3U);
  EXPECT_EQ(found->value, U'\u202e');
  EXPECT_TRUE(found->is_utf8);
  EXPECT_FALSE(FindUnsafe("d\xc3\xa9j\xc3\xa0"));
  EXPECT_FALSE(FindUnsafe("\x1b", 1));
}

TEST(FindUnsafe, FindsEachByteThatIsNoUtf8) {
  for (const std::string_view text : {"a\x9b", "a\xff", "a\xc2", "a\xe2\x80", "a\xc0\xaf"}) {
    const auto found = FindUnsafe(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->at, 1U);
    EXPECT_EQ(found->size, 1U);
    EXPECT_FALSE(found->is_utf8);
  }
}

TEST(Utf8, IsWrittenAsItIsRead) {
  for (const char32_t value : std::initializer_list<char32_t>{0x0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff,
                                                              0xe000, 0xffff, 0x10000, 0x10ffff}) {
    std::string text;
    AppendUtf8(text, value);
    const CodePoint point = FirstCodePoint(text);
    EXPECT_EQ(point.value, value);
    EXPECT_EQ(point.size, text.size());
    EXPECT_TRUE(IsUtf8(text));
  }
}

TEST(Utf8, IsNothingElse) {
  for (const std::string_view text : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(FirstCodePoint(text).size, 0U);
    EXPECT_FALSE(IsUtf8(text));
  }
}

}  // namespace
}  // namespace perftape
