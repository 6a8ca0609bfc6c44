// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/name_regex.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::convert {
namespace {

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
