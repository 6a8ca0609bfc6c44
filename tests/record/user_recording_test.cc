// SPDX-License-Identifier: Apache-2.0
#include "record/user_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const SystemFacts kUser = {.has_btf = true, .perf_paranoid = 2, .kptr_restrict = 0};

// Returns the message for a recording of a command that `change` changes; empty if it is allowed.
std::string WhyNot(const std::function<void(RecordOptions&)>& change) {
  RecordOptions options;
  options.input.target = Workload{};
  options.input.prefers_unwind_tables = true;
  change(options);
  const Status checked = CheckUserOptions(options, kUser);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
  return checked.error().message;
}

TEST(IsUserRecording, IsThatOfAUserWithoutCapabilities) {
  EXPECT_TRUE(IsUserRecording(kUser));
  SystemFacts root = kUser;
  root.capabilities = ~std::uint64_t{0};
  EXPECT_FALSE(IsUserRecording(root));
  root.has_btf = false;
  EXPECT_FALSE(IsUserRecording(root)) << "root gets no half of a recording";
  root.in_user_namespace = true;
  EXPECT_TRUE(IsUserRecording(root));
  SystemFacts without_events = kUser;
  without_events.perf_paranoid.reset();
  EXPECT_FALSE(IsUserRecording(without_events));
}

TEST(CheckUserOptions, AllowsCommandsProcessesAndThreads) {
  EXPECT_EQ(WhyNot([](RecordOptions&) {}), "");
  EXPECT_EQ(WhyNot([](RecordOptions& options) { options.input.target = ProcessTrees{{7}}; }), "");
  EXPECT_EQ(WhyNot([](RecordOptions& options) { options.input.target = Threads{{7}}; }), "");
}

TEST(CheckUserOptions, AllowsOtherWaysToFindCallChains) {
  EXPECT_EQ(WhyNot([](RecordOptions& options) {
              options.input.prefers_unwind_tables = false;
              options.input.callchains = Callchains::kOnlyKernel;
              options.input.stack_bytes = 8192;
            }),
            "");
  EXPECT_EQ(WhyNot([](RecordOptions& options) {
              options.input.prefers_unwind_tables = false;
              options.input.callchains = Callchains::kNone;
            }),
            "");
}

TEST(CheckUserOptions, NamesOptionReasonAndRemedy) {
  const std::string message =
      WhyNot([](RecordOptions& options) { options.input.target = WholeSystem{}; });
  EXPECT_THAT(message, AllOf(StartsWith("-a: "), HasSubstr("CAP_BPF and CAP_PERFMON are missing"),
                             HasSubstr("sudo setcap")));
}

TEST(CheckUserOptions, RefusesWhatNeedsPrograms) {
  const std::pair<const char*, std::function<void(RecordOptions&)>> refused[] = {
      {"-u: ", [](RecordOptions& options) { options.input.user = 7; }},
      {"--cgroup: ", [](RecordOptions& options) { options.input.scope.cgroups = {"/x"}; }},
      {"--cgroup: ", [](RecordOptions& options) { options.input.scope.containers = {"3f2a"}; }},
      {"--comm: ", [](RecordOptions& options) { options.input.scope.comms = {"x*"}; }},
      {"--all-cgroups: ", [](RecordOptions& options) { options.input.scope.all_cgroups = true; }},
      {"--namespaces: ", [](RecordOptions& options) { options.input.scope.namespaces = true; }},
      {"--max-cpu: ", [](RecordOptions& options) { options.max_cpu = 3; }},
      {"--call-graph eh: ",
       [](RecordOptions& options) {
         options.input.prefers_unwind_tables = false;
         options.input.callchains = Callchains::kUnwindTables;
       }},
      {"event 'offcpu': ",
       [](RecordOptions& options) {
         options.input.events = ParseEvents("cpu-clock,offcpu").value();
       }},
  };
  for (const auto& [start, change] : refused) EXPECT_THAT(WhyNot(change), StartsWith(start));
}

TEST(CheckUserOptions, LeavesEventsThatMayBeMissingToThePlan) {
  EXPECT_EQ(WhyNot([](RecordOptions& options) {
              options.input.events = ParseEvents("cpu-clock,offcpu").value();
              options.input.missing_events = MissingEvents::kSkip;
            }),
            "");
}

TEST(UserRecordingText, IsOneLineThatNamesTheReason) {
  RecordOptions options;
  options.input.prefers_unwind_tables = true;
  const std::string text = UserRecordingText(options, kUser);
  EXPECT_THAT(
      text, AllOf(HasSubstr("user code"), HasSubstr("CAP_BPF and CAP_PERFMON are missing"),
                  HasSubstr("perftape-doctor"), HasSubstr("frame pointers"), Not(HasSubstr("\n"))));
  options.input.prefers_unwind_tables = false;
  EXPECT_THAT(UserRecordingText(options, kUser), Not(HasSubstr("frame pointers")));
}

}  // namespace
}  // namespace perftape::record
