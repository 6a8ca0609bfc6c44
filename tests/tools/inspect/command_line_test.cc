// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/command_line.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::inspect {
namespace {

using testing::ElementsAre;

Result<Plan> PlanOfWords(std::vector<std::string> words) {
  TRY_ASSIGN(Plan parsed, cli::Parse<Plan>(InspectCommand(), words));
  return PlanOf(std::move(parsed));
}

TEST(InspectPlan, ShowsSummaryAndStatisticsByDefault) {
  const auto plan = PlanOfWords({});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->input, "perf.data");
  EXPECT_THAT(plan->sections, ElementsAre(Section::kSummary, Section::kStatistics));
}

TEST(InspectPlan, AcceptsTheFileAsOperandOrOption) {
  EXPECT_EQ(PlanOfWords({"x.data"})->input, "x.data");
  EXPECT_EQ(PlanOfWords({"-i", "-"})->input, "-");
}

TEST(InspectPlan, RefusesASecondFile) {
  EXPECT_THAT(PlanOfWords({"a", "b"}),
              FailsWith(ErrorCode::kInvalidArgument, "'b': only one input file is allowed"));
}

}  // namespace
}  // namespace perftape::inspect
