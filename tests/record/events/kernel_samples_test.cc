// SPDX-License-Identifier: Apache-2.0
#include "record/events/kernel_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "record/events/kernel_samples.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Returns the message, or nothing if users may record the event.
std::string WhyNot(std::string_view event) {
  const Status checked =
      CheckKernelEvent(ParseEvents(event).value().front(), Sampler::kKernelForUser, "use root");
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
  return checked.error().message;
}

TEST(CheckKernelEvent, AllowsClocksCountersAndTheirSets) {
  for (const char* event : {"cpu-clock", "task-clock/freq=999/", "page-faults:u", "cycles",
                            "instructions:u", "faults", "not-known"}) {
    EXPECT_EQ(WhyNot(event), "") << event;
  }
}

TEST(CheckKernelEvent, RefusesWhatOnlyProgramsRecord) {
  for (const char* event : {"sched:sched_switch", "sched:*", "uprobe:libc:malloc",
                            "kprobe:vfs_read", "offcpu", "lock", "packetloss"}) {
    EXPECT_THAT(WhyNot(event), AllOf(HasSubstr("event '" + std::string(event) + "': "),
                                     HasSubstr("needs eBPF: use root")))
        << event;
  }
}

TEST(CheckKernelEvent, RefusesKernelCode) {
  for (const char* event : {"cpu-clock:k", "cs", "context-switches:u", "migrations"}) {
    EXPECT_THAT(WhyNot(event), HasSubstr("kernel code")) << event;
  }
}

TEST(CheckKernelEvent, IsPartOfThePlan) {
  const EventMachine machine = {.try_to_open = [](const perfdata::EventAttr&) { return Status(); },
                                .check_event =
                                    [](const EventSpec& spec) {
                                      return CheckKernelEvent(spec, Sampler::kKernelForUser,
                                                              "use root");
                                    }};
  const std::vector<EventSpec> specs = InUserCode(ParseEvents("offcpu,task-clock").value());
  EXPECT_FALSE(PlanEvents(specs, Frequency{99}, MissingEvents::kFail, machine));
  const Result<EventPlan> plan = PlanEvents(specs, Frequency{99}, MissingEvents::kSkip, machine);
  ASSERT_TRUE(plan);
  ASSERT_THAT(plan->events, SizeIs(1));
  EXPECT_EQ(plan->events[0].name, "task-clock:u");
  EXPECT_THAT(plan->warnings, ElementsAre(HasSubstr("event 'offcpu'")));
}

TEST(InUserCode, IsTheClockIfNothingIsAskedFor) {
  const std::vector<EventSpec> specs = InUserCode({});
  ASSERT_THAT(specs, SizeIs(1));
  EXPECT_EQ(specs[0].name, "cpu-clock");
  EXPECT_EQ(specs[0].modifiers, "u");
}

TEST(InUserCode, KeepsTheModifierThatIsRefused) {
  const std::vector<EventSpec> specs = InUserCode(ParseEvents("cpu-clock:k,page-faults").value());
  EXPECT_EQ(specs[0].modifiers, "k");
  EXPECT_EQ(specs[1].modifiers, "u");
}

perfdata::EventAttr Planned(const RecordedThreads& threads, Callchains callchains,
                            std::uint32_t stack_bytes = 0) {
  PlannedEvent event{
      .attr = CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99})};
  if (stack_bytes != 0) AddUserState(stack_bytes, event.attr);
  PlanForKernel(Sampler::kKernelForUser, callchains, std::span(&event, 1));
  PlanForThreads(threads, std::span(&event, 1));
  return event.attr;
}

TEST(PlanForThreads, StartsWithTheExecOfACommand) {
  const perfdata::EventAttr of_command =
      Planned({.sampled = {7}, .from_exec = true, .followed = {7}}, Callchains::kFramePointers);
  EXPECT_TRUE(of_command.Has(perfdata::kEnableOnExec));
  EXPECT_TRUE(of_command.Has(perfdata::kInherit));
  EXPECT_TRUE(of_command.Has(perfdata::kDisabled));
  const perfdata::EventAttr of_threads = Planned(
      {.sampled = {7}, .inherit = Inherit::kNo, .followed = {7}}, Callchains::kFramePointers);
  EXPECT_FALSE(of_threads.Has(perfdata::kEnableOnExec));
  EXPECT_FALSE(of_threads.Has(perfdata::kInherit));
}

TEST(PlanForThreads, WalksUserStacksOnlyByFramePointers) {
  const RecordedThreads threads = {.sampled = {7}, .followed = {7}};
  EXPECT_FALSE(Planned(threads, Callchains::kFramePointers).Has(perfdata::kExcludeCallchainUser));
  EXPECT_TRUE(Planned(threads, Callchains::kNone).Has(perfdata::kExcludeCallchainUser));
  const perfdata::EventAttr dwarf = Planned(threads, Callchains::kOnlyKernel, 8192);
  EXPECT_TRUE(dwarf.Has(perfdata::kExcludeCallchainUser));
  EXPECT_EQ(dwarf.sample_stack_user, 8192U);
  EXPECT_TRUE(dwarf.Has(perfdata::kExcludeCallchainKernel));
}

TEST(PlanForKernel, KeepsKernelCodeAndCountsNoExpiries) {
  PlannedEvent event{
      .attr = CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{99})};
  event.settings.period_ns = 7;
  PlanForKernel(Sampler::kKernel, Callchains::kFramePointers, std::span(&event, 1));
  EXPECT_FALSE(event.attr.Has(perfdata::kExcludeKernel));
  EXPECT_FALSE(event.attr.Has(perfdata::kExcludeCallchainKernel));
  EXPECT_FALSE(event.attr.Has(perfdata::kInherit));
  EXPECT_EQ(event.settings.period_ns, 0U);
  PlanForKernel(Sampler::kKernel, Callchains::kNone, std::span(&event, 1));
  EXPECT_TRUE(event.attr.Has(perfdata::kExcludeCallchainKernel));
}

TEST(CheckKernelEvent, AllowsKernelCodeAndTracepointsWithPrivileges) {
  const auto check = [](std::string_view event) {
    return CheckKernelEvent(ParseEvents(event).value().front(), Sampler::kKernel, "use bpf");
  };
  for (const char* event : {"cpu-clock:k", "cs", "sched:sched_switch", "faults"}) {
    EXPECT_TRUE(check(event)) << event;
  }
  for (const char* event : {"offcpu", "lock", "uprobe:libc:malloc", "latency:fs",
                            "sched:sched_switch/if=prev_pid==7/"}) {
    EXPECT_FALSE(check(event)) << event;
  }
}

TEST(CheckUserEvents, NamesTheSettingThatForbidsThem) {
  EventMachine machine;
  machine.try_to_open = [](const perfdata::EventAttr& attr) -> Status {
    EXPECT_TRUE(attr.Has(perfdata::kExcludeKernel));
    return Fail(ErrorCode::kPermission, "refused");
  };
  EXPECT_EQ(
      CheckUserEvents(machine, {.perf_paranoid = 4, .kptr_restrict = 0}).error().message,
      "with kernel.perf_event_paranoid at 4, this kernel refuses all perf events to users: run "
      "it as root, or change the setting with 'sudo sysctl kernel.perf_event_paranoid=2'");
  EXPECT_THAT(CheckUserEvents(
                  machine, {.perf_paranoid = 2, .kptr_restrict = 0, .has_system_call_filter = true})
                  .error()
                  .message,
              HasSubstr("seccomp filter"));
  EXPECT_EQ(CheckUserEvents(machine, {.perf_paranoid = 2, .kptr_restrict = 0}).error().message,
            "refused");
}

// Upstream kernels do not know values above 2.
TEST(CheckUserEvents, BelievesTheKernelAndNotTheSetting) {
  EventMachine machine;
  machine.try_to_open = [](const perfdata::EventAttr&) { return Status(); };
  EXPECT_TRUE(CheckUserEvents(machine, {.perf_paranoid = 4, .kptr_restrict = 0}));
}

TEST(KernelSamples, CountsWhatDidNotFitForTheFirstEvent) {
  KernelSamples samples;
  EXPECT_THAT(samples.Counters(0), IsEmpty());
  EXPECT_TRUE(samples.CountLost(2, 5));
  EXPECT_TRUE(samples.CountLost(2, 1));
  const std::vector<wire_cpu> counters = samples.Counters(0);
  ASSERT_THAT(counters, SizeIs(3));
  EXPECT_EQ(counters[0].ring_full, 0U);
  EXPECT_EQ(counters[2].ring_full, 6U);
  EXPECT_THAT(samples.Counters(1), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
