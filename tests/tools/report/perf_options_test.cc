// SPDX-License-Identifier: Apache-2.0
#include "tools/report/perf_options.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::report_tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

Result<PerfPlan> PerfPlanOf(const Words& words) {
  TRY_ASSIGN(PerfPlan plan, cli::Parse<PerfPlan>(PerfReportCommand(), JoinCallGraph(words)));
  return PlanOfPerf(std::move(plan));
}

// The columns of a report, and "children" if callees are added up.
std::string ColumnsOf(const Words& words) {
  Result<PerfPlan> plan = PerfPlanOf(words);
  if (!plan) return plan.error().message;
  const auto settings = SettingsOf(*plan, true);
  std::string columns;
  for (const histogram::Key* key : settings->columns) columns += std::string(key->word) + " ";
  return columns;
}

TEST(AsksForPerf, IfAnOptionIsOnlyPerfs) {
  EXPECT_TRUE(AsksForPerf(Words{"--stdio"}));
  EXPECT_TRUE(AsksForPerf(Words{"-i", "a.data", "-s", "comm"}));
  EXPECT_TRUE(AsksForPerf(Words{"a.data", "--no-children"}));
  EXPECT_TRUE(AsksForPerf(Words{"-qg"}));
  EXPECT_TRUE(AsksForPerf(Words{"--sort", "dso"}));
  EXPECT_TRUE(AsksForPerf(Words{"--sort=dso,sym"}));
  EXPECT_TRUE(AsksForPerf(Words{"--tui"}));
  EXPECT_TRUE(AsksForPerf(Words{"-n", "--stdio"}));
}

TEST(AsksForPerf, NotIfBothProgramsHaveTheOption) {
  for (const Words& words :
       {Words{}, Words{"--force"}, Words{"-f", "-q", "-v"}, Words{"-n", "5"},
        Words{"--sort", "self"}, Words{"--sort=total"}, Words{"--time", "1,2"}, Words{"-C", "0"},
        Words{"--", "-s"}, Words{"--percent-limit", "5"}, Words{"-"}}) {
    EXPECT_FALSE(AsksForPerf(words)) << testing::PrintToString(words);
  }
}

TEST(JoinCallGraph, TakesTheNextWordIfItIsAStyle) {
  EXPECT_THAT(JoinCallGraph({"-g", "graph,0.5", "a.data"}), ElementsAre("-ggraph,0.5", "a.data"));
  EXPECT_THAT(JoinCallGraph({"--call-graph", "none"}), ElementsAre("--call-graph=none"));
  EXPECT_THAT(JoinCallGraph({"-g", "a.data"}), ElementsAre("-g", "a.data"));
  EXPECT_THAT(JoinCallGraph({"-g", "--stdio"}), ElementsAre("-g", "--stdio"));
  EXPECT_THAT(JoinCallGraph({"-Gg", "5"}), ElementsAre("-Gg5"));
}

TEST(SettingsOf, HasTheColumnsOfPerf) {
  EXPECT_EQ(ColumnsOf({}), "overhead_children overhead comm dso symbol ");
  EXPECT_EQ(ColumnsOf({"--no-children", "-n", "--show-total-period", "-s", "sym"}),
            "overhead sample period symbol ");
  EXPECT_EQ(ColumnsOf({"-F", "comm,overhead"}), "comm overhead ");
  EXPECT_EQ(ColumnsOf({"-F", "overhead", "-s", "dso"}), "overhead dso ");
  EXPECT_EQ(ColumnsOf({"--no-children", "-s", "+cpu"}), "overhead comm dso symbol cpu ");
  EXPECT_EQ(ColumnsOf({"--no-children", "-p", "^main"}), "overhead comm dso symbol parent ");
}

TEST(SettingsOf, BeginsChainsWithTheCallerIfCalleesAreAddedUp) {
  const auto order_of = [](const Words& words) {
    Result<PerfPlan> plan = PerfPlanOf(words);
    return SettingsOf(*plan, true)->chain_order;
  };
  EXPECT_EQ(order_of({}), histogram::ChainOrder::kCaller);
  EXPECT_EQ(order_of({"--hierarchy"}), histogram::ChainOrder::kCaller);
  EXPECT_EQ(order_of({"--no-children"}), histogram::ChainOrder::kCallee);
  EXPECT_EQ(order_of({"--no-children", "-G"}), histogram::ChainOrder::kCaller);
  EXPECT_EQ(order_of({"-g", "callee"}), histogram::ChainOrder::kCallee);
}

TEST(PerfPlanOf, RefusesWithTheWay) {
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  EXPECT_THAT(PerfPlanOf({"--header"}), refuses("perftape-inspect --header"));
  EXPECT_THAT(PerfPlanOf({"-b"}), refuses("perftape-inspect --samples"));
  EXPECT_THAT(PerfPlanOf({"--by", "comm"}), refuses("--sort adds up by keys"));
  EXPECT_THAT(PerfPlanOf({"-s", "nosuch"}), refuses("unknown key 'nosuch'"));
  EXPECT_THAT(PerfPlanOf({"--call-graph=nosuch"}), refuses("unknown word 'nosuch'"));
  EXPECT_THAT(PerfPlanOf({"--percentage", "half"}), refuses("choose absolute or relative"));
  EXPECT_THAT(PerfPlanOf({"a", "b"}), refuses("exactly one input"));
}

TEST(PerfReportCommand, GivesEachOptionASummary) {
  for (const cli::Option& option : PerfReportCommand().options) {
    EXPECT_FALSE(option.summary().empty()) << option.key();
  }
}

}  // namespace
}  // namespace perftape::report_tool
