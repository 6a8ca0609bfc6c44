// SPDX-License-Identifier: Apache-2.0
#include "formats/base/percent.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

TEST(DecimalOf, IsAtLeastZero) {
  EXPECT_EQ(DecimalOf("0"), 0);
  EXPECT_EQ(DecimalOf("0.5"), 0.5);
  EXPECT_EQ(DecimalOf(".5"), 0.5);
  EXPECT_EQ(DecimalOf("1000000"), 1e6);
  for (const char* text : {"", ".", "-1", "+1", "1e3", "inf", "nan", "1 ", "1%", "1.2.3"}) {
    EXPECT_FALSE(DecimalOf(text)) << text;
  }
}

TEST(PercentOf, IsANumberFrom0To100) {
  EXPECT_EQ(PercentOf("0%", PercentSign::kRequired), 0);
  EXPECT_EQ(PercentOf("0.5%", PercentSign::kRequired), 0.5);
  EXPECT_EQ(PercentOf("100%", PercentSign::kRequired), 100);
  for (const char* text : {"", "%", "-1%", "100.1%", "5 %", "5%%", "nan%"}) {
    EXPECT_FALSE(PercentOf(text, PercentSign::kOptional)) << text;
  }
}

TEST(PercentOf, NeedsItsSignOnlyIfRequired) {
  EXPECT_EQ(PercentOf("5", PercentSign::kOptional), 5);
  EXPECT_EQ(PercentOf("5%", PercentSign::kOptional), 5);
  EXPECT_FALSE(PercentOf("5", PercentSign::kRequired));
}

}  // namespace
}  // namespace perftape
