// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/time_view_options.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/matchers.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;

constexpr Option kOtherRows[] = {
    EventRow("keep only samples of these events"),
    {.name = "diff", .help = "compare", .into = Set<&SymbolPlan::show_sources>}};
constexpr auto kTimeOptions =
    Table(InGroup(Group::kSelection, kOtherRows), InGroup(Group::kSelection, kFilterRows),
          InGroup(Group::kTime, kTimeViewRows));
constexpr Command kTimeCommand = {
    .name = "time", .purpose = "", .operands = "", .options = kTimeOptions};

// Returns the plan for one input.
Result<TimeViewPlan> PlanOfWords(std::vector<std::string> words) {
  TRY_ASSIGN(TimeViewPlan plan, Parse<TimeViewPlan>(kTimeCommand, words));
  TRY(FinishTimeViewOptions(1, plan));
  return plan;
}

// "1-1 4-": the ranges of --parallelism.
std::string Ranges(std::string_view list) {
  const auto ranges = ParseThreadNumbers("--parallelism", list);
  if (!ranges) return ranges.error().message;
  std::string text;
  for (const timeline::ThreadNumbers& range : *ranges) {
    text += fmt::format("{}-", range.first);
    if (range.last != timeline::ThreadNumbers().last) text += std::to_string(range.last);
    text += ' ';
  }
  return text;
}

TEST(ParseThreadNumbers, ReadsNumbersAndRanges) {
  EXPECT_EQ(Ranges("1"), "1-1 ");
  EXPECT_EQ(Ranges("1,2-4,8-"), "1-1 2-4 8- ");
}

TEST(ParseThreadNumbers, RefusesOtherTexts) {
  for (const std::string_view list : {"0", "-3", "4-2", "1-2-3", "two", "1,", "1x", "-"}) {
    EXPECT_THAT(Ranges(list), HasSubstr("is not a number of threads: use 1, 2-4 or 8-")) << list;
  }
}

TEST(FinishTimeViewOptions, ReadsContextSwitchesForEachView) {
  for (const char* view : {"--latency", "--wall", "--path"}) {
    EXPECT_TRUE(PlanOfWords({view})->import.thread_switches) << view;
  }
  const auto plan = PlanOfWords({"--parallelism", "1"});
  EXPECT_TRUE(plan->import.thread_switches);
  EXPECT_EQ(plan->time_view.view, TimeView::kParallelism);
  EXPECT_FALSE(PlanOfWords({})->import.thread_switches);
  EXPECT_FALSE(PlanOfWords({})->import.time_label);
}

TEST(FinishTimeViewOptions, RefusesTwoViews) {
  for (const char* view : {"--wall", "--path"}) {
    EXPECT_THAT(PlanOfWords({view, "--latency"}),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("cannot be combined")));
    EXPECT_THAT(PlanOfWords({view, "--parallelism=1"}),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("cannot be combined")));
  }
}

TEST(FinishTimeViewOptions, ComparesWithWindowsAroundTheMedianByDefault) {
  const auto plan = PlanOfWords({"--path", "--slowest", "3", "--against"});
  ASSERT_TRUE(plan->time_view.against);
  EXPECT_EQ(plan->time_view.against->from, 40);
  EXPECT_EQ(plan->time_view.against->to, 60);
  const auto told = PlanOfWords({"--path", "--windows", "p95..", "--against=..p50"});
  EXPECT_EQ(told->time_view.against->to, 50);
}

TEST(FinishTimeViewOptions, RefusesToCompareAllWindows) {
  EXPECT_THAT(PlanOfWords({"--path", "--against"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("needs --slowest or --windows")));
  EXPECT_THAT(PlanOfWords({"--against"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("need --path")));
}

}  // namespace
}  // namespace perftape::cli
