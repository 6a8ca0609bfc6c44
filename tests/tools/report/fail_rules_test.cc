// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fail_rules.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::report_tool {
namespace {

using summarize::GrowthRule;
using testing::HasSubstr;
using testing::SizeIs;

TEST(ParseFailRule, ReadsFunctionMeasureAndLimit) {
  const Result<GrowthRule> rule = ParseFailRule("operator new*  total   +2.5%");
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->functions.Match("operator new(unsigned long)"));
  EXPECT_EQ(rule->of, GrowthRule::Of::kTotal);
  EXPECT_EQ(rule->limit, 2.5);
  EXPECT_EQ(rule->unit, GrowthRule::Unit::kPercent);
  EXPECT_EQ(ParseFailRule("f self +2pp")->unit, GrowthRule::Unit::kPoints);
}

TEST(ParseFailRule, RefusesWhatIsNoRule) {
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  EXPECT_THAT(ParseFailRule(""), refuses("has no limit"));
  EXPECT_THAT(ParseFailRule("f self 5%"), refuses("has no limit"));
  EXPECT_THAT(ParseFailRule("f self +5"), refuses("has no limit"));
  EXPECT_THAT(ParseFailRule("f self +x%"), refuses("has no limit"));
  EXPECT_THAT(ParseFailRule("f self +inf%"), refuses("has no limit"));
  EXPECT_THAT(ParseFailRule("f +5%"), refuses("neither self nor total"));
  EXPECT_THAT(ParseFailRule("self +5%"), refuses("names no function"));
}

TEST(ReadFailRules, ReadsAFileOfRules) {
  const TempDir dir;
  dir.Write("rules", "# limits\n\n  f self +5%\r\ng total +1pp");
  const auto rules = ReadFailRules({"@" + (dir / "rules").string(), "h self +3%"});
  ASSERT_TRUE(rules);
  ASSERT_THAT(*rules, SizeIs(3));
  EXPECT_EQ((*rules)[0].text, "f self +5%");
  EXPECT_EQ((*rules)[2].text, "h self +3%");
  EXPECT_THAT(ReadFailRules({"@/nonexistent"}), FailsWith(ErrorCode::kNotFound, HasSubstr("")));
}

// Returns the text about a function whose share grows from `before` to `after`.
std::string TextOfGrowth(const GrowthRule& rule, double before, double after) {
  const summarize::Change change = {.before = {.value = before}, .after = {.value = after}};
  const summarize::FunctionChange function = {
      .function = "sort", .binary = "app", .self = change, .inclusive = change};
  return ViolationText({.rule = &rule, .function = &function, .error = 0.01});
}

TEST(ViolationText, SaysHowMuchAFunctionGrewAtLeast) {
  EXPECT_EQ(TextOfGrowth(ParseFailRule("* self +5%").value(), 0.2, 0.25),
            "sort: self grew by +25.0 % (at least +20.0 %), more than '* self +5%' allows");
}

TEST(ViolationText, NamesANewFunction) {
  EXPECT_EQ(TextOfGrowth(ParseFailRule("* total +5%").value(), 0, 0.05),
            "sort: total grew from zero, more than '* total +5%' allows");
}

}  // namespace
}  // namespace perftape::report_tool
