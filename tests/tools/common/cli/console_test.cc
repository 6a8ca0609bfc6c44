// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

namespace perftape::cli {
namespace {

constexpr Command kCommand = {
    .name = "tool", .purpose = "Throw.", .operands = "[FILE]", .options = {}};

using Plan = BaseOptions;

Result<Plan> PlanOf(Plan plan) {
  return plan;
}

struct Outcome {
  int status = 0;
  std::string message;
};

Outcome RunThat(Result<int> (*run)(const Plan&, Console&)) {
  char name[] = "tool";
  char* words[] = {name, nullptr};
  testing::internal::CaptureStderr();
  const int status = Main<Plan>({kCommand, &PlanOf, run}, 1, words);
  return {status, testing::internal::GetCapturedStderr()};
}

TEST(Main, PassesOnTheStatus) {
  const Outcome outcome = RunThat([](const Plan&, Console&) -> Result<int> { return kDegraded; });
  EXPECT_EQ(outcome.status, kDegraded);
  EXPECT_EQ(outcome.message, "");
}

TEST(Main, PrintsAnErrorAndFails) {
  const Outcome outcome = RunThat(
      [](const Plan&, Console&) -> Result<int> { return Fail(ErrorCode::kIo, "disk full"); });
  EXPECT_EQ(outcome.status, kFailed);
  EXPECT_EQ(outcome.message, "tool: disk full\n");
}

TEST(Main, PrintsAnExceptionAndFails) {
  const Outcome outcome = RunThat([](const Plan&, Console&) -> Result<int> {
    return std::filesystem::file_size("/nonexistent/\x1b[2J") > 0 ? 1 : 0;
  });
  EXPECT_EQ(outcome.status, kFailed);
  EXPECT_THAT(outcome.message, testing::StartsWith("tool: unexpected error: filesystem error: "));
  EXPECT_THAT(outcome.message, testing::HasSubstr("\\x1b[2J"));
}

TEST(Main, PrintsWhatIsNoStandardExceptionAndFails) {
  const Outcome no_memory =
      RunThat([](const Plan&, Console&) -> Result<int> { throw std::bad_alloc(); });
  EXPECT_EQ(no_memory.status, kFailed);
  EXPECT_EQ(no_memory.message, "tool: unexpected error: out of memory\n");
  const Outcome number = RunThat([](const Plan&, Console&) -> Result<int> { throw 1; });
  EXPECT_EQ(number.status, kFailed);
  EXPECT_EQ(number.message, "tool: unexpected error: unknown exception\n");
}

}  // namespace
}  // namespace perftape::cli
