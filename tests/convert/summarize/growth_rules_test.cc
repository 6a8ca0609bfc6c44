// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/growth_rules.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perftape::summarize {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

GrowthRule Percent(std::string_view functions, double limit) {
  return {.text = "", .functions = convert::Globs(functions), .limit = limit};
}

GrowthRule Points(std::string_view functions, double limit) {
  GrowthRule rule = Percent(functions, limit);
  rule.unit = GrowthRule::Unit::kPoints;
  return rule;
}

// Returns a function whose share grows from `before` to `after`, each of 10000 samples.
FunctionChange Grows(std::string name, double before, double after) {
  const auto estimate = [](double share) {
    const Observation one = ObservedShare(share, 1, 10000);
    return MeanOf({&one, 1});
  };
  const Change change = {.before = estimate(before), .after = estimate(after)};
  return {.function = std::move(name), .binary = "app", .self = change, .inclusive = change};
}

// Returns the names of the functions that break the rule, the largest growth first.
std::vector<std::string> Broken(GrowthRule rule, std::vector<FunctionChange> functions) {
  EventDifference difference;
  difference.functions = std::move(functions);
  const std::vector<GrowthRule> rules = {std::move(rule)};
  std::vector<std::string> names;
  for (const Violation& violation : CheckRules(rules, difference).violations) {
    names.push_back(violation.function->function);
  }
  return names;
}

TEST(CheckRules, ListsTheLargestGrowthFirst) {
  EXPECT_THAT(Broken(Percent("*", 5), {Grows("sort", 0.20, 0.24), Grows("main", 0.2, 0.3)}),
              ElementsAre("main", "sort"));
}

TEST(CheckRules, ReadsTheChangeThatTheRuleIsAbout) {
  FunctionChange calls = Grows("main", 0.2, 0.3);
  calls.self = Grows("main", 0.2, 0.2).self;
  EXPECT_THAT(Broken(Percent("*", 5), {calls}), IsEmpty());
  GrowthRule total = Percent("*", 5);
  total.of = GrowthRule::Of::kTotal;
  EXPECT_THAT(Broken(total, {calls}), ElementsAre("main"));
}

TEST(CheckRules, FailsWhereTheGrowthIsBeyondLimitAndNoise) {
  EXPECT_THAT(Broken(Percent("sort", 5), {Grows("sort", 0.20, 0.24), Grows("main", 0.2, 0.3)}),
              ElementsAre("sort"));
  EXPECT_THAT(Broken(Percent("sort", 25), {Grows("sort", 0.20, 0.24)}), IsEmpty());
  EXPECT_THAT(Broken(Points("sort", 5), {Grows("sort", 0.20, 0.24)}), IsEmpty());
  EXPECT_THAT(Broken(Points("sort", 3), {Grows("sort", 0.20, 0.24)}), SizeIs(1));
  EXPECT_THAT(Broken(Percent("sort", 5), {Grows("sort", 0.24, 0.20)}), IsEmpty());
}

TEST(CheckRules, FailsForANewFunction) {
  EXPECT_THAT(Broken(Percent("*", 5), {Grows("fresh", 0, 0.05)}), ElementsAre("fresh"));
}

TEST(CheckRules, LeavesGrowthThatChanceExplains) {
  // 10 samples become 15: +50 %, which is within the noise.
  EXPECT_THAT(Broken(Percent("*", 5), {Grows("rare", 0.0010, 0.0015)}), IsEmpty());
}

TEST(CheckRules, DoesNotFailMoreOftenForARuleOfManyFunctions) {
  // 2.9 deviations: beyond the noise for one function, not for the largest of a thousand.
  const FunctionChange grown = Grows("f", 0.100, 0.118);
  EXPECT_THAT(Broken(Percent("*", 5), {grown}), SizeIs(1));
  std::vector<FunctionChange> many(1000, Grows("same", 0.01, 0.01));
  many.push_back(grown);
  EXPECT_THAT(Broken(Percent("*", 5), many), IsEmpty());
}

TEST(CheckRules, DoesNotCountFunctionsTooRareToFail) {
  // One sample before and one after are no growth that chance does not explain.
  std::vector<FunctionChange> functions(1000, Grows("rare", 0.0001, 0.0001));
  functions.push_back(Grows("f", 0.100, 0.118));
  EXPECT_THAT(Broken(Percent("*", 5), functions), SizeIs(1));
}

TEST(CheckRules, ReportsRulesThatMatchNothing) {
  const std::vector<GrowthRule> rules = {Percent("absent", 5)};
  EXPECT_THAT(CheckRules(rules, {}).unused, ElementsAre(&rules[0]));
}

}  // namespace
}  // namespace perftape::summarize
