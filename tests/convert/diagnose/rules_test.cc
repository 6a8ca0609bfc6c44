// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/rules.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "formats/perfdata/latency_probes.h"
#include "tests/support/matchers.h"

namespace perftape::diagnose {
namespace {

using testing::HasSubstr;

double ThresholdOf(const RuleSet& rules, std::string_view name) {
  for (const ActiveRule& active : rules.active()) {
    if (active.rule->name == name) return active.threshold;
  }
  return -1;
}

TEST(Rules, AreOfKnownProbesAndComeAfterTheirCauses) {
  std::set<std::string_view> earlier;
  for (const Rule& rule : Rules()) {
    SCOPED_TRACE(rule.name);
    EXPECT_TRUE(rule.probe.empty() || perfdata::FindLatencyProbe(rule.probe) != nullptr);
    EXPECT_THAT(std::string(rule.text), HasSubstr("{}"));
    EXPECT_GT(rule.threshold, 0);
    for (const std::string_view cause : rule.causes) {
      EXPECT_TRUE(cause.empty() || earlier.contains(cause)) << cause;
    }
    EXPECT_TRUE(earlier.insert(rule.name).second);
    EXPECT_EQ(FindRule(rule.name), &rule);
  }
  EXPECT_EQ(FindRule("none"), nullptr);
}

TEST(RuleSet, ChangesThresholdsInTheUnitOfTheFigure) {
  RuleSet rules;
  EXPECT_THAT(rules.Change("fsync-slow=50ms"), IsOk());
  EXPECT_THAT(rules.Change("cpu-throttled = 25%"), IsOk());
  EXPECT_THAT(rules.Change("cpu-limit-80=70.5"), IsOk());
  EXPECT_THAT(rules.Change("peer-resets=7"), IsOk());
  EXPECT_EQ(ThresholdOf(rules, "fsync-slow"), 50e6);
  EXPECT_EQ(ThresholdOf(rules, "cpu-throttled"), 25);
  EXPECT_EQ(ThresholdOf(rules, "cpu-limit-80"), 70.5);
  EXPECT_EQ(ThresholdOf(rules, "peer-resets"), 7);
  EXPECT_EQ(rules.active().size(), Rules().size());
  EXPECT_TRUE(std::ranges::is_sorted(rules.active(), {}, &ActiveRule::rule));
}

TEST(RuleSet, LeavesOutWhatIsOffAndTakesItBack) {
  RuleSet rules;
  EXPECT_THAT(rules.Change("oom-kill=off"), IsOk());
  EXPECT_EQ(ThresholdOf(rules, "oom-kill"), -1);
  EXPECT_THAT(rules.Change("oom-kill=2"), IsOk());
  EXPECT_EQ(ThresholdOf(rules, "oom-kill"), 2);
}

TEST(RuleSet, RefusesOtherTexts) {
  RuleSet rules;
  const auto refuses = [&](std::string_view text, std::string_view why) {
    EXPECT_THAT(rules.Change(text),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr(std::string(why))));
  };
  refuses("fsync-slow", "NAME=THRESHOLD");
  refuses("fsync=50ms", "no rule has this name");
  refuses("fsync-slow=50", "a time");
  refuses("fsync-slow=", "a time");
  refuses("cpu-throttled=10ms", "a percentage");
  refuses("peer-resets=-1", "a number");
  refuses("page-faults=x", "per second");
}

TEST(RuleSet, ReadsLinesWithComments) {
  RuleSet rules;
  EXPECT_THAT(rules.ChangeAll("# ours\r\n\n  fsync-slow=1s\r\noom-kill=off"), IsOk());
  EXPECT_EQ(ThresholdOf(rules, "fsync-slow"), 1e9);
  EXPECT_EQ(ThresholdOf(rules, "oom-kill"), -1);
  EXPECT_THAT(rules.ChangeAll("\nbad\n"),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("line 2: rule 'bad'")));
}

TEST(FigureText, HasTheUnit) {
  EXPECT_EQ(FigureText(Unit::kPercent, 12.34), "12.3 %");
  EXPECT_EQ(FigureText(Unit::kNanoseconds, 83.21e6), "83.2 ms");
  EXPECT_EQ(FigureText(Unit::kNanoseconds, 2.5e9), "2.50 s");
  EXPECT_EQ(FigureText(Unit::kNanoseconds, 1500), "1.5 us");
  EXPECT_EQ(FigureText(Unit::kNanoseconds, 15), "15 ns");
  EXPECT_EQ(FigureText(Unit::kCount, 3), "3");
  EXPECT_EQ(FigureText(Unit::kPerSecond, 1000), "1000/s");
  EXPECT_EQ(ThresholdText(*FindRule("connect-failure"), 10), "more than 10.0 %");
  EXPECT_EQ(ThresholdText(*FindRule("oom-kill"), 1), "at least 1");
}

}  // namespace
}  // namespace perftape::diagnose
