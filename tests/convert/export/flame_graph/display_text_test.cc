// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/display_text.h"

#include <gtest/gtest.h>

namespace perftape::flame_graph {
namespace {

TEST(DisplayText, KeepsWhatCanBeShown) {
  EXPECT_EQ(DisplayText("std::vector<int>::at"), "std::vector<int>::at");
  EXPECT_EQ(DisplayText("größe 数"), "größe 数");
  EXPECT_EQ(DisplayText(""), "");
}

TEST(DisplayText, ReplacesUnsafeCharactersAndInvalidBytes) {
  EXPECT_EQ(DisplayText("a\nb"), "a\ufffdb");
  EXPECT_EQ(DisplayText("\x1b[31m"), "\ufffd[31m");
  EXPECT_EQ(DisplayText("a\u202eb"), "a\ufffdb");
  EXPECT_EQ(DisplayText("a\x80\xff"), "a\ufffd\ufffd");
  EXPECT_EQ(DisplayText("cut\xe6\x95"), "cut\ufffd\ufffd");
}

TEST(DisplayText, ReplacesWhatXmlDoesNotAllow) {
  EXPECT_EQ(DisplayText("\uffff\ufffe\U0001ffff\ufdd0"), "\ufffd\ufffd\ufffd\ufffd");
}

TEST(AppendMarkup, LeavesNothingThatIsMarkup) {
  std::string out;
  AppendMarkup(out, "</title><script a='1' b=\"2\">&lt;");
  EXPECT_EQ(out, "&lt;/title&gt;&lt;script a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;lt;");
}

}  // namespace
}  // namespace perftape::flame_graph
