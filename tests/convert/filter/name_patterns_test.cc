// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/name_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/matchers.h"

namespace perftape::convert {
namespace {

TEST(Globs, AreAListAgain) {
  Globs globs("nginx*,java");
  globs.Add("x");
  EXPECT_EQ(globs.text(), "nginx*,java,x");
  EXPECT_EQ(Globs().text(), "");
}

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

TEST(NameRegex, FindsAnyPart) {
  const NameRegex regex = NameRegex::Compile("^std::|alloc").value();
  EXPECT_TRUE(regex.Find("std::sort"));
  EXPECT_TRUE(regex.Find("je_malloc"));
  EXPECT_FALSE(regex.Find("my_std::x"));
}

TEST(NameRegex, MatchesBytes) {
  EXPECT_TRUE(NameRegex::Compile("f.g").value().Find("f\xffg"));
}

TEST(NameRegex, ReadsALongNameInOneGo) {
  EXPECT_FALSE(NameRegex::Compile("(a*)*b").value().Find(std::string(1 << 20, 'a')));
}

TEST(NameRegex, ReportsErrorsInAnExpression) {
  EXPECT_THAT(NameRegex::Compile("a("),
              FailsWith(ErrorCode::kInvalidArgument, testing::HasSubstr("'a(' is not a regular")));
}

}  // namespace
}  // namespace perftape::convert
