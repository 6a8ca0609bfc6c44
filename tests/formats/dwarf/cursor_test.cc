// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/cursor.h"

#include <gtest/gtest.h>

#include <string_view>

namespace perftape::dwarf {
namespace {

Cursor At(std::string_view bytes, std::endian order = std::endian::little) {
  return Cursor(AsBytes(bytes), 0, order);
}

TEST(Cursor, ReadsNumbersOfSevenBitsAByte) {
  EXPECT_EQ(At("\xe5\x8e\x26").Uleb(), 624485U);
  EXPECT_EQ(At("\xc0\xbb\x78").Sleb(), -123456);
  EXPECT_EQ(At("\x7f").Sleb(), -1);
}

TEST(Cursor, CutsOffWhatDoesNotFitInto64Bits) {
  Cursor at = At("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  EXPECT_EQ(at.Uleb(), ~std::uint64_t{0});
  EXPECT_TRUE(at.ok());
  EXPECT_EQ(at.remaining(), 0U);
}

TEST(Cursor, ReadsThreeBytesInEitherOrder) {
  EXPECT_EQ(At("\x01\x02\x03").Unsigned(3), 0x030201U);
  EXPECT_EQ(At("\x01\x02\x03", std::endian::big).Unsigned(3), 0x010203U);
}

TEST(Cursor, FailsForGoodPastTheEnd) {
  Cursor at = At("abc");
  EXPECT_EQ(at.Fixed<std::uint32_t>(), 0U);
  EXPECT_FALSE(at.ok());
  EXPECT_EQ(at.Fixed<std::uint8_t>(), 0U);
  EXPECT_TRUE(at.String().empty());
}

TEST(Cursor, RejectsAStringWithoutItsNul) {
  EXPECT_EQ(At(std::string_view("tape\0x", 6)).String(), "tape");
  Cursor at = At("tape");
  EXPECT_EQ(at.String(), "");
  EXPECT_FALSE(at.ok());
}

}  // namespace
}  // namespace perftape::dwarf
