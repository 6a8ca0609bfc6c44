// SPDX-License-Identifier: Apache-2.0
#include "record/kernel_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>

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
  const Status checked = CheckKernelOptions(options, Sampler::kKernelForUser, kUser);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
  return checked.error().message;
}

TEST(SamplerFor, IsTheKernelWhereNoProgramsCanBeLoaded) {
  const auto automatic = [](const SystemFacts& facts) {
    return SamplerFor(SamplerRequest::kAuto, facts);
  };
  EXPECT_EQ(automatic(kUser), Sampler::kKernelForUser);
  SystemFacts root = kUser;
  root.capabilities = ~std::uint64_t{0};
  EXPECT_EQ(automatic(root), Sampler::kPrograms);
  root.has_btf = false;
  EXPECT_EQ(automatic(root), Sampler::kKernel);
  root.has_btf = true;
  root.release = "4.18.0-513.el8";
  EXPECT_EQ(automatic(root), Sampler::kKernel);
  root.in_user_namespace = true;
  EXPECT_EQ(automatic(root), Sampler::kKernelForUser) << "its capabilities do not count";
  SystemFacts without_events = kUser;
  without_events.perf_paranoid.reset();
  EXPECT_EQ(automatic(without_events), Sampler::kPrograms) << "whose requirements are told";
}

TEST(SamplerFor, IsAllCodeWithOneCapabilityOrALowSetting) {
  SystemFacts facts = kUser;
  facts.perf_paranoid = 0;
  EXPECT_EQ(SamplerFor(SamplerRequest::kAuto, facts), Sampler::kKernel);
  facts.perf_paranoid = 4;
  facts.capabilities = std::uint64_t{1} << CAP_PERFMON;
  EXPECT_EQ(SamplerFor(SamplerRequest::kAuto, facts), Sampler::kKernel);
}

TEST(SamplerFor, IsWhatIsAskedFor) {
  SystemFacts root = kUser;
  root.capabilities = ~std::uint64_t{0};
  EXPECT_EQ(SamplerFor(SamplerRequest::kKernel, root), Sampler::kKernel);
  EXPECT_EQ(SamplerFor(SamplerRequest::kPrograms, kUser), Sampler::kPrograms);
  EXPECT_EQ(SamplerFor(SamplerRequest::kKernel, kUser), Sampler::kKernelForUser);
}

TEST(CheckKernelOptions, AllowsCommandsProcessesAndThreads) {
  EXPECT_EQ(WhyNot([](RecordOptions&) {}), "");
  EXPECT_EQ(WhyNot([](RecordOptions& options) { options.input.target = ProcessTrees{{7}}; }), "");
  EXPECT_EQ(WhyNot([](RecordOptions& options) { options.input.target = Threads{{7}}; }), "");
}

TEST(CheckKernelOptions, AllowsOtherWaysToFindCallChains) {
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

TEST(CheckKernelOptions, NamesOptionReasonAndRemedy) {
  const std::string message =
      WhyNot([](RecordOptions& options) { options.input.target = WholeSystem{}; });
  EXPECT_THAT(message, AllOf(StartsWith("-a: "), HasSubstr("CAP_BPF and CAP_PERFMON are missing"),
                             HasSubstr("sudo setcap")));
}

TEST(CheckKernelOptions, RefusesWhatNeedsPrograms) {
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

TEST(CheckKernelOptions, LeavesEventsThatMayBeMissingToThePlan) {
  EXPECT_EQ(WhyNot([](RecordOptions& options) {
              options.input.events = ParseEvents("cpu-clock,offcpu").value();
              options.input.missing_events = MissingEvents::kSkip;
            }),
            "");
}

TEST(KernelSamplerText, IsOneLineThatNamesTheReason) {
  RecordOptions options;
  options.input.prefers_unwind_tables = true;
  const std::string text = KernelSamplerText(options, Sampler::kKernelForUser, kUser);
  EXPECT_THAT(
      text, AllOf(HasSubstr("user code"), HasSubstr("CAP_BPF and CAP_PERFMON are missing"),
                  HasSubstr("perftape-doctor"), HasSubstr("frame pointers"), Not(HasSubstr("\n"))));
  options.input.prefers_unwind_tables = false;
  EXPECT_THAT(KernelSamplerText(options, Sampler::kKernelForUser, kUser),
              Not(HasSubstr("frame pointers")));
}

TEST(KernelSamplerText, NamesWhatIsMissingWithPrivileges) {
  SystemFacts facts = kUser;
  facts.capabilities = ~std::uint64_t{0};
  facts.has_btf = false;
  EXPECT_THAT(KernelSamplerText({}, Sampler::kKernel, facts),
              AllOf(HasSubstr("/sys/kernel/btf/vmlinux"), HasSubstr("off-CPU time"),
                    Not(HasSubstr("frame pointers"))));
  facts.has_btf = true;
  EXPECT_THAT(KernelSamplerText({}, Sampler::kKernel, facts), HasSubstr("--sampler kernel"));
}

TEST(CheckKernelOptions, AllowsTheWholeSystemWithPrivileges) {
  RecordOptions options;
  options.input.target = WholeSystem{};
  options.input.prefers_unwind_tables = true;
  options.input.scope.all_cgroups = true;
  options.input.events = ParseEvents("sched:sched_switch,cpu-clock:k").value();
  EXPECT_TRUE(CheckKernelOptions(options, Sampler::kKernel, kUser));
  options.input.user = 7;
  EXPECT_FALSE(CheckKernelOptions(options, Sampler::kKernel, kUser));
}

}  // namespace
}  // namespace perftape::record
