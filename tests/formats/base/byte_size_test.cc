// SPDX-License-Identifier: Apache-2.0
#include "formats/base/byte_size.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

TEST(SizeOf, HasEachUnit) {
  EXPECT_EQ(SizeOf("7B", 1), 7U);
  EXPECT_EQ(SizeOf("7K", 1), 7U << 10);
  EXPECT_EQ(SizeOf("7M", 1), 7U << 20);
  EXPECT_EQ(SizeOf("7G", 1), std::uint64_t{7} << 30);
}

TEST(SizeOf, ANumberWithoutUnitCountsTheGivenOne) {
  EXPECT_EQ(SizeOf("7", 1), 7U);
  EXPECT_EQ(SizeOf("7", 4096), 7U * 4096);
  EXPECT_EQ(SizeOf("0", 1), 0U);
  EXPECT_FALSE(SizeOf("7", 0));
}

TEST(SizeOf, ASizeThatDoesNotFitIsTheLargest) {
  EXPECT_EQ(SizeOf("18446744073709551615B", 1), UINT64_MAX);
  EXPECT_EQ(SizeOf("99999999999999999999", 1), UINT64_MAX);
  EXPECT_EQ(SizeOf("17179869184G", 1), UINT64_MAX);
  EXPECT_EQ(SizeOf("17179869183G", 1), UINT64_MAX - (std::uint64_t{1} << 30) + 1);
}

TEST(SizeOf, OtherTextsAreNone) {
  for (const char* text : {"", "M", "1k", "1m", "1T", "1KB", "1 K", "-1K", "+1", "1.5M", "0x10"}) {
    EXPECT_FALSE(SizeOf(text, 1)) << text;
  }
}

TEST(SizeText, HasTheLargestUnitThatDividesTheSize) {
  EXPECT_EQ(SizeText(0), "0B");
  EXPECT_EQ(SizeText(65528), "65528B");
  EXPECT_EQ(SizeText(4096), "4K");
  EXPECT_EQ(SizeText(std::uint64_t{3} << 20), "3M");
  EXPECT_EQ(SizeText(std::uint64_t{2048} << 30), "2048G");
}

}  // namespace
}  // namespace perftape
