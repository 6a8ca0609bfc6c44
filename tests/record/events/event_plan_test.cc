// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_plan.h"

#include <gmock/gmock.h>

#include <fstream>

#include "record/events/plan_own_events.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A machine with the software events and three tracepoints.
class PlanEventsTest : public testing::Test {
 protected:
  void SetUp() override {
    AddTracepoint("sched", "sched_switch", 1,
                  "\tfield:int prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n");
    AddTracepoint("sched", "sched_wakeup", 2,
                  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n");
    AddTracepoint("oom", "mark_victim", 3,
                  "\tfield:unsigned char pid;\toffset:8;\tsize:1;\tsigned:0;\n");
  }

  void AddTracepoint(const std::string& subsystem, const std::string& name, int id,
                     const std::string& field) {
    const std::filesystem::path directory = root_.path() / "events" / subsystem / name;
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "id") << id;
    std::ofstream(directory / "format") << "name: " << name << "\nID: " << id << "\n" << field;
    std::ofstream(directory.parent_path() / "enable") << 0;
  }

  Result<EventPlan> Plan(std::string_view list, MissingEvents missing = MissingEvents::kFail) {
    const EventMachine machine{
        .tracefs = [&]() -> Result<Tracefs> { return Tracefs(root_.path()); },
        .try_to_open = [&](const perfdata::EventAttr& attr) -> Status {
          if (has_pmu_ || attr.type == perfdata::kTypeSoftware) return {};
          return Fail(ErrorCode::kUnsupported, "no PMU");
        },
        .off_cpu = [&]() -> Status {
          if (has_task_storage_) return {};
          return Fail(ErrorCode::kUnsupported, "no task storage");
        }};
    return PlanEvents(ParseEvents(list).value(), Frequency{99}, missing, machine);
  }

  std::vector<std::string> NamesOf(std::string_view list) {
    const Result<EventPlan> plan = Plan(list);
    if (!plan) return {plan.error().message};
    std::vector<std::string> names;
    for (const PlannedEvent& event : plan->events) names.push_back(event.name);
    return names;
  }

  std::string ErrorOf(std::string_view list) {
    const Result<EventPlan> plan = Plan(list);
    return plan ? "" : plan.error().message;
  }

  TempDir root_;
  bool has_pmu_ = false;
  bool has_task_storage_ = true;
};

TEST_F(PlanEventsTest, TakesTheClockWhereNothingIsAskedFor) {
  const EventPlan plan =
      PlanEvents({}, Frequency{99}, MissingEvents::kFail, EventMachine::This()).value();
  ASSERT_EQ(plan.events.size(), 1U);
  EXPECT_EQ(plan.events[0].name, "cpu-clock");
  EXPECT_EQ(plan.events[0].settings.period_ns, TimerPeriodNs(Frequency{99}));
}

TEST_F(PlanEventsTest, NamesEventsByTheirFirstNameAndModes) {
  EXPECT_THAT(NamesOf("faults,cs:u,page-faults:k,task-clock"),
              ElementsAre("page-faults", "context-switches:u", "page-faults:k", "task-clock"));
}

TEST_F(PlanEventsTest, CountsExpiriesOnlyOfTimersOfBothModes) {
  const EventPlan plan = Plan("cpu-clock:u,cs,task-clock/period=2000000/").value();
  EXPECT_EQ(plan.events[0].settings.period_ns, 0U);
  EXPECT_TRUE(plan.events[0].attr.Has(perfdata::kExcludeKernel));
  EXPECT_EQ(plan.events[1].settings.period_ns, 0U);
  EXPECT_EQ(plan.events[2].settings.period_ns, 2'000'000U);
}

TEST_F(PlanEventsTest, ReplacesCyclesByTheClockWhereThereIsNoPmu) {
  const EventPlan plan = Plan("cycles:u").value();
  EXPECT_EQ(plan.events[0].name, "cpu-clock:u");
  EXPECT_THAT(plan.warnings, ElementsAre(HasSubstr("recorded cpu-clock instead")));
  EXPECT_THAT(ErrorOf("instructions"), HasSubstr("no PMU"));
  has_pmu_ = true;
  EXPECT_THAT(NamesOf("cycles,L1-dcache-load-misses"),
              ElementsAre("cycles", "L1-dcache-load-misses"));
}

TEST_F(PlanEventsTest, ExpandsAGlobOnce) {
  EXPECT_THAT(NamesOf("sched:sched_switch,sched:*"),
              ElementsAre("sched:sched_switch", "sched:sched_wakeup"));
  EXPECT_THAT(NamesOf("*:*_[vs]*"), ElementsAre("oom:mark_victim", "sched:sched_switch"));
}

TEST_F(PlanEventsTest, ExpandsASet) {
  EXPECT_THAT(NamesOf("oom"), ElementsAre("oom:mark_victim"));
  const EventPlan plan = Plan("oom/every=7/").value();
  EXPECT_EQ(plan.events[0].settings.every, 7U);
  EXPECT_THAT(ErrorOf("tcpretrans"),
              AllOf(HasSubstr("event 'tcpretrans'"), HasSubstr("no 'tcp' in")));
  EXPECT_THAT(ErrorOf("packetlos"), HasSubstr("did you mean packetloss?"));
}

// The format of skb:kfree_skb with this field and these names.
constexpr std::string_view kReason =
    "\tfield:enum skb_drop_reason reason;\toffset:36;\tsize:4;\tsigned:0;\n";
constexpr std::string_view kNamesOfLinux62 =
    "print fmt: \"reason: %s\", __print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }, "
    "{ 3, \"NO_SOCKET\" })\n";
constexpr std::string_view kNamesOfLinux517 =
    "print fmt: \"reason: %s\", __print_symbolic(REC->reason, { 0, \"NOT_SPECIFIED\" }, "
    "{ 1, \"NO_SOCKET\" })\n";
constexpr std::string_view kAddress = "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n";

TEST_F(PlanEventsTest, FindsTheFirstDropReasonByItsName) {
  for (const auto& [names, first] : {std::pair(kNamesOfLinux62, 2U), {kNamesOfLinux517, 0U}}) {
    AddTracepoint("skb", "kfree_skb", 4, std::string(kReason).append(names));
    const EventPlan plan = Plan("packetloss/if=reason!=NO_SOCKET/").value();
    const wire_event& settings = plan.events[0].settings;
    ASSERT_EQ(settings.condition_count, 2);
    EXPECT_EQ(settings.conditions[0].value, first);
    EXPECT_EQ(settings.conditions[0].comparison, WIRE_AT_LEAST);
    EXPECT_EQ(settings.conditions[1].value, first + 1);
  }
}

TEST_F(PlanEventsTest, RecordsAllDropsOfKernelsWithoutReasons) {
  AddTracepoint("skb", "kfree_skb", 4, std::string(kAddress));
  EXPECT_EQ(Plan("packetloss").value().events[0].settings.condition_count, 0);
  EXPECT_THAT(ErrorOf("packetloss/if=reason==3/"), HasSubstr("has no field 'reason'"));
  AddTracepoint("skb", "kfree_skb", 4, std::string(kReason));
  EXPECT_EQ(Plan("packetloss").value().events[0].settings.condition_count, 0);
  EXPECT_THAT(ErrorOf("packetloss/if=reason==NO_SOCKET/"), HasSubstr("have no names"));
}

TEST_F(PlanEventsTest, SaysWhichNameOfAValueIsNear) {
  AddTracepoint("skb", "kfree_skb", 4, std::string(kReason).append(kNamesOfLinux62));
  EXPECT_THAT(ErrorOf("packetloss/if=reason==NO_SOKET/"), HasSubstr("did you mean NO_SOCKET?"));
  EXPECT_THAT(ErrorOf("packetloss/if=reasn==NO_SOCKET/"), HasSubstr("did you mean reason?"));
}

TEST_F(PlanEventsTest, TheSetOfFaultsIsPageFaultsAsInPerf) {
  EXPECT_THAT(NamesOf("faults:u"), ElementsAre("page-faults:u"));
  const EventPlan plan = Plan("faults/period=1/").value();
  EXPECT_EQ(plan.events[0].attr.sample_period, 1U);
  EXPECT_EQ(plan.events[0].cause, SampleCause::kCounter);
}

TEST_F(PlanEventsTest, TheSetOfLocksIsOneEventWithTheFieldsOfItsBeginning) {
  EXPECT_THAT(ErrorOf("lock"), HasSubstr("event 'lock': no 'lock' in"));
  AddTracepoint("lock", "contention_begin", 8,
                "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
                "\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n");
  EXPECT_THAT(ErrorOf("lock"), HasSubstr("no 'contention_end'"));
  AddTracepoint("lock", "contention_end", 9, "\tfield:int ret;\toffset:8;\tsize:4;\tsigned:1;\n");
  const EventPlan plan = Plan("lock/every=2/,lock:contention_begin").value();
  ASSERT_EQ(plan.events.size(), 2U);
  const PlannedEvent& event = plan.events[0];
  EXPECT_EQ(event.name, "lock-time");
  EXPECT_EQ(event.cause, SampleCause::kOwnProgram);
  EXPECT_EQ(event.attr.config, 8U);
  EXPECT_EQ(event.settings.id, 8U);
  EXPECT_EQ(event.settings.every, 2U);
  EXPECT_EQ(event.subsystem, "lock");
  EXPECT_EQ(event.format, plan.events[1].format);
  EXPECT_THAT(ErrorOf("lock/if=flags==1/"), HasSubstr("if= is only for tracepoints"));
}

TEST_F(PlanEventsTest, RefusesLocksOfAKernelWithOtherFields) {
  AddTracepoint("lock", "contention_begin", 8,
                "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n");
  AddTracepoint("lock", "contention_end", 9, "\tfield:int ret;\toffset:8;\tsize:4;\tsigned:1;\n");
  EXPECT_THAT(ErrorOf("lock"), HasSubstr("has unexpected fields"));
}

TEST_F(PlanEventsTest, AnEventWithoutARawRecordIsBpfOutput) {
  const ProgramEvent program = {.name = "switches",
                                .in_file = &perfdata::kCpuClock,
                                .meaning = "a switch",
                                .tracepoints = "sched:sched_switch,oom:mark_victim",
                                .open = nullptr};
  const EventSpec spec = ParseEvents("switches/every=3/").value().front();
  const Result<PlannedEvent> event = PlanProgram(spec, program, Tracefs(root_.path()));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->name, program.in_file->name);
  EXPECT_EQ(event->program, &program);
  EXPECT_EQ(event->attr.config, perfdata::kSoftwareBpfOutput);
  EXPECT_EQ(event->attr.sample_type & perfdata::kRaw, 0U);
  EXPECT_EQ(event->attr.sample_period, 3U);
  EXPECT_EQ(event->settings.every, 3U);
  EXPECT_EQ(event->format, "");
}

TEST_F(PlanEventsTest, RefusesAnEventTwiceWithDifferentOptions) {
  EXPECT_THAT(ErrorOf("sched:sched_switch,sched:sched_switch/every=2/"), HasSubstr("given twice"));
}

TEST_F(PlanEventsTest, PutsOptionsOfATracepointIntoItsSettings) {
  const EventPlan plan = Plan("sched:sched_switch/every=10,if=prev_pid==-1/").value();
  const wire_event& settings = plan.events[0].settings;
  EXPECT_EQ(settings.every, 10U);
  EXPECT_EQ(plan.events[0].attr.sample_period, 10U);
  EXPECT_EQ(settings.raw_size, 12);
  ASSERT_EQ(settings.condition_count, 1);
  EXPECT_EQ(settings.conditions[0].offset, 8);
  EXPECT_EQ(settings.conditions[0].size, 4);
  EXPECT_EQ(settings.conditions[0].is_signed, 1);
  EXPECT_EQ(settings.conditions[0].value, ~std::uint64_t{0});
}

TEST_F(PlanEventsTest, SaysWhereItSearchedAndWhatIsNear) {
  EXPECT_THAT(ErrorOf("page-fault"), HasSubstr("did you mean page-faults?"));
  EXPECT_THAT(ErrorOf("sched:sched_swich"),
              AllOf(HasSubstr("events/sched"), HasSubstr("did you mean sched_switch?")));
  EXPECT_THAT(ErrorOf("shed:x"), AllOf(HasSubstr("/events"), HasSubstr("did you mean sched?")));
  EXPECT_THAT(ErrorOf("sched:sched_switch/if=prev_pit==1/"), HasSubstr("did you mean prev_pid?"));
  EXPECT_THAT(ErrorOf("sched:sched_switch/if=x==1/"), HasSubstr("its integer fields are prev_pid"));
}

TEST_F(PlanEventsTest, RefusesOptionsThatAnEventDoesNotHave) {
  EXPECT_THAT(ErrorOf("cs/every=2/"), HasSubstr("for tracepoints"));
  EXPECT_THAT(ErrorOf("sched:sched_switch/freq=9/"), HasSubstr("has no frequency"));
  EXPECT_THAT(ErrorOf("sched:sched_switch:u"), HasSubstr("no hits without kernel code"));
  EXPECT_THAT(NamesOf("sched:sched_switch:k"), ElementsAre("sched:sched_switch"));
  EXPECT_THAT(ErrorOf("sched:sched_wakeup/if=comm==1/"), HasSubstr("is not an integer"));
  EXPECT_THAT(ErrorOf("oom:mark_victim/if=pid==256/"), HasSubstr("cannot have this value"));
  EXPECT_THAT(ErrorOf("oom:mark_victim/if=pid==-1/"), HasSubstr("is unsigned"));
  EXPECT_THAT(ErrorOf("cpu-clock/period=10/"), HasSubstr("too short"));
}

TEST_F(PlanEventsTest, LeavesOutWhatIsMissingIfAllowed) {
  const EventPlan plan = Plan("cs,instructions,oom:mark_victims", MissingEvents::kSkip).value();
  EXPECT_EQ(plan.events.size(), 1U);
  EXPECT_EQ(plan.warnings.size(), 2U);
  EXPECT_THAT(Plan("instructions", MissingEvents::kSkip), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(Plan("cs/every=2/", MissingEvents::kSkip), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(PlanEventsTest, MakesAnEventOfEachStateOfWaitingThreads) {
  EXPECT_THAT(NamesOf("cpu-clock,offcpu,wakeup"),
              ElementsAre("cpu-clock", "offcpu-time", "offcpu-disk-time", "offcpu-runnable-time",
                          "wakeup"));
  for (const PlannedEvent& event : Plan("offcpu,wakeup").value().events) {
    const bool has_address = (event.attr.sample_type & perfdata::kAddr) != 0;
    EXPECT_EQ(has_address, event.name == "wakeup") << event.name;
  }
  const EventPlan plan = Plan("offcpu").value();
  ASSERT_EQ(plan.events.size(), 3U);
  EXPECT_EQ(plan.events[0].cause, SampleCause::kSleep);
  EXPECT_EQ(plan.events[2].cause, SampleCause::kRunnable);
  for (const PlannedEvent& event : plan.events) {
    EXPECT_EQ(event.attr.config, perfdata::kSoftwareBpfOutput);
  }
}

TEST_F(PlanEventsTest, RefusesOptionsOfWaitsAndWakersWithoutWaits) {
  EXPECT_THAT(ErrorOf("offcpu/period=1/"), HasSubstr("--off-cpu-threshold"));
  EXPECT_THAT(ErrorOf("offcpu:u"), HasSubstr("no modifiers"));
  EXPECT_THAT(ErrorOf("cpu-clock,wakeup"), HasSubstr("add -e offcpu"));
}

TEST_F(PlanEventsTest, SaysWhyWaitsCannotBeMeasured) {
  has_task_storage_ = false;
  EXPECT_EQ(ErrorOf("offcpu"), "event 'offcpu': no task storage");
  EXPECT_EQ(Plan("cpu-clock,offcpu", MissingEvents::kSkip).value().events.size(), 1U);
}

}  // namespace
}  // namespace perftape::record
