// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/perf_to_profile.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"
#include "tools/common/cli/console.h"

namespace perftape::convert_tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Plan> PlanOfWords(std::vector<std::string> words) {
  TRY_ASSIGN(Plan parsed, cli::Parse<Plan>(PerfToProfileCommand(), words));
  return PlanOfPerfToProfile(std::move(parsed));
}

TEST(PerfToProfile, AcceptsTheArgumentsOfPprof) {
  const auto plan = PlanOfWords({"-i", "perf.data", "-o", "/tmp/pprof_1", "-f"});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->inputs, ElementsAre("perf.data"));
  EXPECT_EQ(plan->output, "/tmp/pprof_1");
  EXPECT_EQ(plan->from->name, "perf.data");
  EXPECT_EQ(plan->to->name, "pprof");
  EXPECT_EQ(plan->write.if_exists, IfExists::kReplace);
}

TEST(PerfToProfile, ReplacesNothingUnasked) {
  const auto plan = PlanOfWords({"--input", "a", "--output", "b", "-j"});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->write.if_exists, IfExists::kRefuse);
}

TEST(PerfToProfile, NeedsBothFiles) {
  const auto refuses = [](const char* what) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(what));
  };
  EXPECT_THAT(PlanOfWords({"-i", "a"}), refuses("-o FILE"));
  EXPECT_THAT(PlanOfWords({"-o", "b"}), refuses("-i FILE"));
  EXPECT_THAT(PlanOfWords({"-i", "a", "-o", ""}), refuses("empty"));
  EXPECT_THAT(PlanOfWords({"-i", "a", "-o", "b", "c"}), refuses("'c'"));
}

TEST(PerfToProfile, IsSelectedByItsNameAlone) {
  EXPECT_TRUE(IsPerfToProfile("perf_to_profile"));
  EXPECT_TRUE(IsPerfToProfile("/usr/bin/perf_to_profile"));
  EXPECT_FALSE(IsPerfToProfile("perftape-convert"));
  EXPECT_FALSE(IsPerfToProfile(""));
}

TEST(PerfToProfile, LeavesAnOutputThatIsAbsentOrFullToTheUsualWay) {
  const TempDir directory;
  Plan plan;
  plan.output = directory.path() / "absent";
  plan.write.if_exists = IfExists::kReplace;
  EXPECT_TRUE(TakeOverEmptyOutput(plan));
  EXPECT_EQ(plan.output, directory.path() / "absent");
  plan.output = directory.Write("full", std::string_view("x"));
  EXPECT_TRUE(TakeOverEmptyOutput(plan));
  EXPECT_EQ(plan.output, directory.path() / "full");
}

TEST(PerfToProfile, EndsWellThoughTheInputWasDamaged) {
  EXPECT_EQ(StatusForPprof(cli::kDegraded), cli::kDone);
  EXPECT_EQ(StatusForPprof(cli::kFailed), cli::kFailed);
  EXPECT_EQ(StatusForPprof(cli::kUsage), cli::kUsage);
}

}  // namespace
}  // namespace perftape::convert_tool
