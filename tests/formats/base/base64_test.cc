// SPDX-License-Identifier: Apache-2.0
#include "formats/base/base64.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

TEST(Base64, EncodesTheExamplesOfRfc4648) {
  EXPECT_EQ(Base64(AsBytes("")), "");
  EXPECT_EQ(Base64(AsBytes("f")), "Zg==");
  EXPECT_EQ(Base64(AsBytes("fo")), "Zm8=");
  EXPECT_EQ(Base64(AsBytes("foo")), "Zm9v");
  EXPECT_EQ(Base64(AsBytes("foobar")), "Zm9vYmFy");
  EXPECT_EQ(Base64(AsBytes("\xff\xfe\xfb")), "//77");
}

TEST(FromBase64, DecodesTheExamplesOfRfc4648WithAndWithoutPadding) {
  EXPECT_EQ(FromBase64(""), "");
  EXPECT_EQ(FromBase64("Zg=="), "f");
  EXPECT_EQ(FromBase64("Zg"), "f");
  EXPECT_EQ(FromBase64("Zm8="), "fo");
  EXPECT_EQ(FromBase64("Zm9vYmFy"), "foobar");
}

TEST(FromBase64, DecodesBothAlphabets) {
  EXPECT_EQ(FromBase64("//77+w"), "\xff\xfe\xfb\xfb");
  EXPECT_EQ(FromBase64("__77-w"), "\xff\xfe\xfb\xfb");
}

TEST(FromBase64, RefusesOtherTexts) {
  EXPECT_FALSE(FromBase64("Z"));
  EXPECT_FALSE(FromBase64("Zm 9"));
  EXPECT_FALSE(FromBase64("Z==="));
  EXPECT_FALSE(FromBase64("Zg==Zg=="));
}

}  // namespace
}  // namespace perftape
