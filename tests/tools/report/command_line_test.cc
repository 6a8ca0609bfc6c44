// SPDX-License-Identifier: Apache-2.0
#include "tools/report/command_line.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::report_tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<ReportPlan> PlanOfWords(const std::vector<std::string>& words) {
  TRY_ASSIGN(ReportPlan plan, cli::Parse<ReportPlan>(ReportCommand(), words));
  return PlanOf(std::move(plan));
}

TEST(ReportPlanOf, ReadsPerfDataByDefault) {
  const Result<ReportPlan> plan = PlanOfWords({});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->inputs, ElementsAre("perf.data"));
  EXPECT_EQ(plan->output, "-");
  EXPECT_EQ(plan->functions, 20U);
  EXPECT_EQ(plan->contents.stacks, 0U);
  EXPECT_FALSE(plan->contents.tree);
}

TEST(ReportPlanOf, ReadsTheContents) {
  const Result<ReportPlan> plan =
      PlanOfWords({"a.data", "--stacks", "--tree=callers", "--by=cpu,label:region", "-n", "5"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->contents.stacks, 10U);
  EXPECT_EQ(plan->contents.tree, summarize::TreeDirection::kCallers);
  EXPECT_EQ(plan->functions, 5U);
  ASSERT_EQ(plan->contents.groups.size(), 2U);
  EXPECT_EQ(plan->contents.groups[1].label, "region");
  EXPECT_TRUE(plan->import.cpu_label);
  EXPECT_THAT(plan->import.field_labels, ElementsAre("region"));
}

TEST(ReportPlanOf, RefusesWhatIsNoValue) {
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  EXPECT_THAT(PlanOfWords({"--by=color"}), refuses("--by"));
  EXPECT_THAT(PlanOfWords({"--by=label:"}), refuses("--by"));
  EXPECT_THAT(PlanOfWords({"--tree=sideways"}), refuses("--tree"));
  EXPECT_THAT(PlanOfWords({"--stacks=x"}), refuses("--stacks"));
  EXPECT_THAT(PlanOfWords({"--json", "--csv"}), refuses("cannot be combined"));
  EXPECT_THAT(PlanOfWords({"--fail-on=f self +5%", "in"}), refuses("--fail-on needs --diff"));
  EXPECT_THAT(PlanOfWords({"--diff=a", "b", "--absolute", "--fail-on=f self +2pp"}),
              refuses("cannot be combined with --absolute"));
  EXPECT_THAT(PlanOfWords({"-", "-"}), refuses("stdin can be read only once"));
}

TEST(ReportPlanOf, AsksTheReaderForWhatADiagnosisNeeds) {
  const Result<ReportPlan> plan =
      PlanOfWords({"--diagnose", "--rule=oom-kill=off", "--fail-on-finding=warning"});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->import.time_label);
  EXPECT_TRUE(plan->import.wants_event("latency:read"));
  EXPECT_FALSE(plan->import.wants_event("cpu-clock"));
  EXPECT_THAT(plan->import.field_labels, testing::Contains("peer"));
  EXPECT_EQ(plan->diagnosis_rules.active().size() + 1, diagnose::Rules().size());
  EXPECT_EQ(plan->fail_on_finding, diagnose::Severity::kWarning);
}

TEST(WordOf, NamesEachProperty) {
  EXPECT_EQ(WordOf(summarize::Property::kComm), "comm");
  EXPECT_EQ(WordOf(summarize::Property::kCgroup), "cgroup");
}

}  // namespace
}  // namespace perftape::report_tool
