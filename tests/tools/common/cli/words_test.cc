// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "formats/base/text.h"

namespace perftape::cli {
namespace {

constexpr std::string_view kHtml = "html";
constexpr std::string_view kSvg = "svg";

TEST(Words, AreSeparatedByBlanks) {
  EXPECT_EQ(Joined(Words("html svg folded"), ","), "html,svg,folded");
  EXPECT_EQ(Joined(Words("html"), ","), "html");
}

TEST(Words, AreEmptyWithoutAText) {
  EXPECT_TRUE(Words().empty());
  EXPECT_EQ(Words().begin(), Words().end());
}

TEST(Words, AreThoseOfConstants) {
  EXPECT_EQ(Joined(kWords<kHtml, kSvg>, ","), "html,svg");
  EXPECT_EQ(Joined(kWords<kSvg>, ","), "svg");
}

TEST(Words, AreFoundAsAWhole) {
  constexpr Words kList = "no-kernel no-user";
  EXPECT_NE(std::ranges::find(kList, "no-user"), kList.end());
  EXPECT_EQ(std::ranges::find(kList, "no"), kList.end());
}

}  // namespace
}  // namespace perftape::cli
