// SPDX-License-Identifier: Apache-2.0
#include "tools/recover/command_line.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::recover_tool {
namespace {

using testing::HasSubstr;

Result<Plan> PlanOfWords(std::vector<std::string> words) {
  TRY_ASSIGN(Plan parsed, cli::Parse<Plan>(RecoverCommand(), words));
  return PlanOf(std::move(parsed));
}

auto Refuses(const char* message) {
  return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
}

TEST(RecoverPlan, AcceptsTheInputAsOperandOrOption) {
  EXPECT_EQ(PlanOfWords({"in", "-o", "out"})->input, "in");
  EXPECT_EQ(PlanOfWords({"-i", "in", "-o", "out"})->input, "in");
  EXPECT_THAT(PlanOfWords({"-i", "in", "other", "-o", "out"}),
              Refuses("only one input file is allowed"));
}

TEST(RecoverPlan, ReportsMissingArguments) {
  EXPECT_THAT(PlanOfWords({"-o", "out"}), Refuses("no input file given"));
  EXPECT_THAT(PlanOfWords({"in"}), Refuses("no output given: use -o FILE"));
  EXPECT_THAT(PlanOfWords({"in", "-o", ""}), Refuses("-o: the file name is empty"));
}

TEST(RecoverPlan, RefusesToWriteAFileIntoAPipe) {
  EXPECT_THAT(PlanOfWords({"in", "-o", "-"}), Refuses("cannot be written to a pipe"));
}

TEST(RecoverPlan, ReplacesAnOutputOnlyIfAsked) {
  EXPECT_EQ(PlanOfWords({"in", "-o", "out"})->if_exists, IfExists::kRefuse);
  EXPECT_EQ(PlanOfWords({"in", "-o", "out", "-f"})->if_exists, IfExists::kReplace);
}

TEST(RecoverPlan, ReportsAsText) {
  EXPECT_EQ(PlanOfWords({"in", "-o", "out"})->report_as, ReportAs::kText);
  EXPECT_EQ(PlanOfWords({"in", "-o", "out", "--json"})->report_as, ReportAs::kJson);
}

}  // namespace
}  // namespace perftape::recover_tool
