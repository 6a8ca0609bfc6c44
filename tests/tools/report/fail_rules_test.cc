// SPDX-License-Identifier: Apache-2.0
#include "tools/report/fail_rules.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::report_tool {
namespace {

using summarize::EventDifference;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ParseFailRule, ReadsFunctionMeasureAndLimit) {
  const Result<FailRule> rule = ParseFailRule("operator new*  total   +2.5%");
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->functions.Match("operator new(unsigned long)"));
  EXPECT_EQ(rule->of, FailRule::Of::kTotal);
  EXPECT_EQ(rule->limit, 2.5);
  EXPECT_EQ(rule->unit, FailRule::Unit::kPercent);
  EXPECT_EQ(ParseFailRule("f self +2pp")->unit, FailRule::Unit::kPoints);
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

// Returns a function whose share grows from `before` to `after`, each of 10000 samples.
summarize::FunctionChange Grows(std::string name, double before, double after) {
  const auto estimate = [](double share) {
    const summarize::Observation one = summarize::ObservedShare(share, 1, 10000);
    return summarize::MeanOf({&one, 1});
  };
  const summarize::Change change = {.before = estimate(before), .after = estimate(after)};
  return {.function = std::move(name), .binary = "app", .self = change, .inclusive = change};
}

std::vector<std::string> Violations(std::string_view rule,
                                    std::vector<summarize::FunctionChange> functions) {
  EventDifference difference;
  difference.functions = std::move(functions);
  const std::vector<FailRule> rules = {ParseFailRule(rule).value()};
  std::vector<std::string> texts;
  for (const Violation& violation : CheckRules(rules, difference).violations) {
    texts.push_back(violation.text);
  }
  return texts;
}

TEST(CheckRules, FailsWhereTheGrowthIsBeyondLimitAndNoise) {
  EXPECT_THAT(Violations("sort self +5%", {Grows("sort", 0.20, 0.24), Grows("main", 0.2, 0.3)}),
              ElementsAre(HasSubstr("sort: self grew by +20.0 % (at least")));
  EXPECT_THAT(Violations("sort self +25%", {Grows("sort", 0.20, 0.24)}), IsEmpty());
  EXPECT_THAT(Violations("sort self +5pp", {Grows("sort", 0.20, 0.24)}), IsEmpty());
  EXPECT_THAT(Violations("sort self +3pp", {Grows("sort", 0.20, 0.24)}), SizeIs(1));
  EXPECT_THAT(Violations("sort self +5%", {Grows("sort", 0.24, 0.20)}), IsEmpty());
}

TEST(CheckRules, NamesANewFunction) {
  EXPECT_THAT(Violations("* self +5%", {Grows("fresh", 0, 0.05)}),
              ElementsAre("fresh: is new in self, more than '* self +5%' allows"));
}

TEST(CheckRules, LeavesGrowthThatChanceExplains) {
  // 10 samples become 15: +50 %, which is within the noise.
  EXPECT_THAT(Violations("* self +5%", {Grows("rare", 0.0010, 0.0015)}), IsEmpty());
}

TEST(CheckRules, DoesNotFailMoreOftenForARuleOfManyFunctions) {
  // 2.9 deviations: beyond the noise for one function, not for the largest of a thousand.
  const summarize::FunctionChange grown = Grows("f", 0.100, 0.118);
  EXPECT_THAT(Violations("* self +5%", {grown}), SizeIs(1));
  std::vector<summarize::FunctionChange> many(1000, Grows("same", 0.01, 0.01));
  many.push_back(grown);
  EXPECT_THAT(Violations("* self +5%", many), IsEmpty());
}

TEST(CheckRules, DoesNotCountFunctionsTooRareToFail) {
  // One sample before and one after are no growth that chance does not explain.
  std::vector<summarize::FunctionChange> functions(1000, Grows("rare", 0.0001, 0.0001));
  functions.push_back(Grows("f", 0.100, 0.118));
  EXPECT_THAT(Violations("* self +5%", functions), SizeIs(1));
}

TEST(CheckRules, ReportsRulesThatMatchNothing) {
  const std::vector<FailRule> rules = {ParseFailRule("absent self +5%").value()};
  EXPECT_THAT(CheckRules(rules, {}).unused, ElementsAre(&rules[0]));
}

}  // namespace
}  // namespace perftape::report_tool
