// SPDX-License-Identifier: Apache-2.0
#include "tools/common/recording/recording_options.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/matchers.h"

namespace perftape::recording {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRateOfTest = "(default 7)";

constexpr auto kOptionsOfTest = cli::Table(
    cli::InGroup(cli::Group::kEvents, kEventRows), cli::InGroup(cli::Group::kTargets, kScopeRows),
    cli::InGroup(cli::Group::kSampling, kSamplingRows<kRateOfTest, &CallGraphs>));

constexpr cli::Command kCommandOfTest = {
    .name = "test", .purpose = "record", .operands = "", .options = kOptionsOfTest};

Result<record::RecordOptions> OptionsOf(std::vector<std::string> words) {
  TRY_ASSIGN(RecordingPlan plan, cli::Parse<RecordingPlan>(kCommandOfTest, words));
  TRY(FinishRecordingOptions(plan));
  return std::move(plan.record);
}

TEST(RecordingOptions, KeepTheDefaultsOfTheToolUntilAnOptionIsGiven) {
  RecordingPlan plan;
  plan.record.input.rate = record::Frequency{7};
  plan.record.input.off_cpu_threshold = std::chrono::milliseconds(3);
  ASSERT_THAT(FinishRecordingOptions(plan), IsOk());
  EXPECT_EQ(std::get<record::Frequency>(plan.record.input.rate).hz, 7U);
  EXPECT_EQ(plan.record.input.off_cpu_threshold, std::chrono::milliseconds(3));
  EXPECT_TRUE(plan.record.input.prefers_unwind_tables);
  EXPECT_FALSE(plan.record.cgroup_usage);
}

TEST(RecordingOptions, ReplaceTheDefaultsOfTheTool) {
  const auto options = OptionsOf({"-F50", "--off-cpu-threshold=20us", "--call-graph=dwarf,100"});
  ASSERT_THAT(options, IsOk());
  EXPECT_EQ(std::get<record::Frequency>(options->input.rate).hz, 50U);
  EXPECT_EQ(options->input.off_cpu_threshold, std::chrono::microseconds(20));
  EXPECT_EQ(options->input.callchains, record::Callchains::kOnlyKernel);
  EXPECT_EQ(options->input.stack_bytes, 104U);
  EXPECT_FALSE(options->input.prefers_unwind_tables);
}

TEST(RecordingOptions, RecordLimitsOfCgroupsWithLatencyProbes) {
  const auto options = OptionsOf({"-e", "cpu-clock,latency:fs"});
  ASSERT_THAT(options, IsOk());
  EXPECT_TRUE(options->cgroup_usage);
}

TEST(RecordingOptions, RefuseARateThatTheKernelDoesNotAllow) {
  const auto highest = HighestFrequency();
  if (!highest) GTEST_SKIP() << "this kernel has no limit";
  const std::string above = std::to_string(*highest + 1);
  EXPECT_THAT(OptionsOf({"-F", above}),
              FailsWith(ErrorCode::kInvalidArgument,
                        HasSubstr("-F: " + above + " exceeds the limit of this kernel")));
  EXPECT_THAT(OptionsOf({"-e", "cpu-clock/freq=" + above + "/"}),
              FailsWith(ErrorCode::kInvalidArgument,
                        HasSubstr("cpu-clock/freq=" + above + "/: " + above + " exceeds")));
  EXPECT_THAT(OptionsOf({"-F", "max"}), IsOk());
}

TEST(RecordingOptions, NameTheDefaultRateOfTheTool) {
  const cli::Option* const freq = cli::FindOption(kCommandOfTest, "freq");
  ASSERT_NE(freq, nullptr);
  EXPECT_TRUE(freq->help.ends_with("machine allow (default 7)")) << freq->help;
}

}  // namespace
}  // namespace perftape::recording
