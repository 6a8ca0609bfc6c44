// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/glob.h"

#include <gtest/gtest.h>

namespace perftape::convert {
namespace {

TEST(Globs, MatchNothingWithoutPatterns) {
  EXPECT_FALSE(Globs().Match(""));
}

TEST(Globs, MatchAsTheShellDoes) {
  const Globs globs("nginx*,java,c?t");
  EXPECT_TRUE(globs.Match("nginx: worker"));
  EXPECT_TRUE(globs.Match("java"));
  EXPECT_TRUE(globs.Match("cat"));
  EXPECT_FALSE(globs.Match("javac"));
  EXPECT_FALSE(globs.Match("Java"));
}

TEST(Globs, MatchAPatternLiterallyToo) {
  EXPECT_TRUE(Globs("[kernel.kallsyms]").Match("[kernel.kallsyms]"));
  EXPECT_TRUE(Globs("a*").Match("a*"));
}

TEST(Globs, MatchTheEmptyNameWithAnEmptyPattern) {
  EXPECT_TRUE(Globs("").Match(""));
  EXPECT_FALSE(Globs("").Match("a"));
}

TEST(Globs, MatchTheLastPartOfAPathUnlessTheyHaveASlash) {
  EXPECT_TRUE(Globs("libc*").MatchPath("/usr/lib/libc.so.6"));
  EXPECT_FALSE(Globs("usr*").MatchPath("/usr/lib/libc.so.6"));
  EXPECT_TRUE(Globs("/usr/*").MatchPath("/usr/lib/libc.so.6"));
  EXPECT_FALSE(Globs("/lib/*").MatchPath("/usr/lib/libc.so.6"));
}

}  // namespace
}  // namespace perftape::convert
