// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/page_data.h"

#include <gtest/gtest.h>

namespace perftape::flame_graph {
namespace {

TEST(Base64, EncodesTheExamplesOfRfc4648) {
  EXPECT_EQ(Base64(AsBytes("")), "");
  EXPECT_EQ(Base64(AsBytes("f")), "Zg==");
  EXPECT_EQ(Base64(AsBytes("fo")), "Zm8=");
  EXPECT_EQ(Base64(AsBytes("foo")), "Zm9v");
  EXPECT_EQ(Base64(AsBytes("foobar")), "Zm9vYmFy");
  EXPECT_EQ(Base64(AsBytes("\xff\xfe\xfb")), "//77");
}

}  // namespace
}  // namespace perftape::flame_graph
