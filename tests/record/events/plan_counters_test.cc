// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_counters.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A machine with counters, as its sysfs describes them.
class PlanCountersTest : public testing::Test {
 protected:
  void AddCpu(const std::string& name, const std::string& type) {
    root_.Write(name + "/type", type);
    root_.Write(name + "/format/event", "config:0-7,32-35\n");
    root_.Write(name + "/format/umask", "config:8-15\n");
    root_.Write(name + "/format/any", "config:21\n");
    root_.Write(name + "/format/ldlat", "config1:0-15\n");
    root_.Write(name + "/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
    root_.Write(name + "/events/asked", "event=0x1,umask=?\n");
  }

  void AddHybridCpus() {
    AddCpu("cpu_atom", "10");
    AddCpu("cpu_core", "8");
    root_.Write("cpu_atom/cpus", "2-3\n");
    root_.Write("cpu_core/cpus", "0-1\n");
  }

  Result<std::vector<PlannedEvent>> PlanAll(std::string_view list) {
    const EventMachine machine{.try_to_open = [&](const perfdata::EventAttr& attr) -> Status {
                                 if ((attr.flags >> perfdata::kPreciseIpShift & 3) <= most_precise_)
                                   return {};
                                 return Fail(ErrorCode::kUnsupported, "too precise");
                               },
                               .pmus = Pmus(root_.path())};
    TRY_ASSIGN(EventPlan plan,
               PlanEvents(ParseEvents(list).value(), Frequency{99}, MissingEvents::kFail, machine));
    return std::move(plan.events);
  }

  PlannedEvent Only(std::string_view list) {
    auto events = PlanAll(list);
    EXPECT_THAT(events, IsOk());
    if (!events) return {};
    EXPECT_EQ(events->size(), 1U);
    return events->front();
  }

  std::string ErrorOf(std::string_view list) {
    const auto events = PlanAll(list);
    return events ? "" : events.error().message;
  }

  std::vector<std::string> NamesOf(std::string_view list) {
    const auto events = PlanAll(list);
    if (!events) return {events.error().message};
    std::vector<std::string> names;
    for (const PlannedEvent& event : *events) names.push_back(event.name);
    return names;
  }

  TempDir root_;
  std::uint64_t most_precise_ = 3;
};

TEST_F(PlanCountersTest, HaveTheNamesAsWritten) {
  EXPECT_THAT(NamesOf("r1a8:u,mem:0x1000/8:w:u,L2-read-miss,dummy:u,cpu-clock/name=foo/u,"
                      "page-faults:upp"),
              ElementsAre("r1a8:u", "mem:0x1000/8:w:u", "L2-read-miss", "dummy:u", "foo",
                          "page-faults:upp"));
}

TEST_F(PlanCountersTest, OfRawNumbersAndBreakpointsHaveTheAttributesOfPerf) {
  const perfdata::EventAttr raw = Only("r1a8").attr;
  EXPECT_EQ(raw.type, perfdata::kTypeRaw);
  EXPECT_EQ(raw.config, 0x1a8U);
  const perfdata::EventAttr breakpoint = Only("mem:0x1000:x").attr;
  EXPECT_EQ(breakpoint.type, perfdata::kTypeBreakpoint);
  EXPECT_EQ(breakpoint.bp_type, 4U);
  EXPECT_EQ(breakpoint.config1, 0x1000U);
  EXPECT_EQ(breakpoint.config2, 8U);
  EXPECT_EQ(breakpoint.sample_period, 1U);
  EXPECT_FALSE(breakpoint.Has(perfdata::kFreq));
  EXPECT_THAT(ErrorOf("r0x1a8"), HasSubstr("is not known"));
}

TEST_F(PlanCountersTest, TimersThatAreExcludedSometimesHaveNoLosses) {
  EXPECT_NE(Only("cpu-clock:pp").settings.period_ns, 0U);
  for (const char* event : {"cpu-clock:u", "cpu-clock:I", "cpu-clock:h"}) {
    EXPECT_EQ(Only(event).settings.period_ns, 0U) << event;
  }
}

TEST_F(PlanCountersTest, WithPHaveTheHighestPrecisionThatOpens) {
  most_precise_ = 2;
  EXPECT_EQ(Only("cpu-clock:P").attr.flags >> perfdata::kPreciseIpShift & 3, 2U);
  EXPECT_THAT(ErrorOf("cpu-clock:ppp"), HasSubstr("too precise"));
}

TEST_F(PlanCountersTest, OfAPmuAreMadeOfItsTerms) {
  AddCpu("cpu", "4");
  const PlannedEvent event = Only("cpu/event=0x13c,umask=0x2,any,period=1000/u");
  EXPECT_EQ(event.name, "cpu/event=0x13c,umask=0x2,any,period=1000/u");
  EXPECT_EQ(event.attr.type, 4U);
  EXPECT_EQ(event.attr.config, 0x10020023cU);
  EXPECT_EQ(event.attr.sample_period, 1000U);
  EXPECT_EQ(Only("cpu/mem-loads,ldlat=0x20/").attr.config1, 0x20U);
  EXPECT_EQ(Only("mem-loads").attr.config, 0x1cdU);
  EXPECT_EQ(Only("cpu/config=0x1a8,config1=7/").attr.config1, 7U);
  EXPECT_EQ(Only("cpu/asked,umask=4/").attr.config, 0x401U);
}

TEST_F(PlanCountersTest, SayWhatIsWrongWithATerm) {
  AddCpu("cpu", "4");
  EXPECT_THAT(ErrorOf("cpu/event=0x1000/"),
              HasSubstr("event: the value is too large: the largest is 0xfff"));
  EXPECT_THAT(ErrorOf("cpu/evnt=1/"),
              AllOf(HasSubstr("no term 'evnt'"), HasSubstr("any, event, ldlat, umask")));
  EXPECT_THAT(ErrorOf("cpu/asked/"), HasSubstr("asked needs umask=VALUE"));
  EXPECT_THAT(ErrorOf("cpu/mem_inst_retired.all_loads/"), HasSubstr("vendors' lists"));
  EXPECT_THAT(ErrorOf("mem_inst_retired.all_loads"), HasSubstr("write cpu/event=0xEE"));
  EXPECT_THAT(ErrorOf("cpv/event=1/"), HasSubstr("no PMU 'cpv'; did you mean cpu?"));
  EXPECT_THAT(ErrorOf("cpu/every=2/"), HasSubstr("only for tracepoints"));
  root_.Write("cpu/format/event", "config:9-2");
  EXPECT_THAT(ErrorOf("cpu/event=1/"), HasSubstr("unexpected content 'config:9-2'"));
  root_.Write("tracepoint/type", "2");
  EXPECT_THAT(ErrorOf("tracepoint/config=1/"), HasSubstr("write SUBSYSTEM:NAME"));
}

TEST_F(PlanCountersTest, OfThePmuOfSoftwareAreClocksToo) {
  root_.Write("software/type", "1");
  EXPECT_EQ(Only("software/config=0/").cause, SampleCause::kTimer);
  EXPECT_EQ(Only("software/config=2,period=7/").cause, SampleCause::kCounter);
  EXPECT_THAT(ErrorOf("software/config=0,period=7/"), HasSubstr("too short for a clock"));
}

TEST_F(PlanCountersTest, OfAHybridMachineAreOnEachKindOfCore) {
  AddHybridCpus();
  const auto events = PlanAll("{cycles:u,instructions}");
  ASSERT_THAT(events, IsOk());
  ASSERT_EQ(events->size(), 4U);
  EXPECT_EQ((*events)[0].name, "cpu_atom/cycles/u");
  EXPECT_EQ((*events)[0].attr.config, std::uint64_t{10} << 32);
  EXPECT_THAT((*events)[0].cpus, ElementsAre(2, 3));
  EXPECT_EQ((*events)[3].name, "cpu_core/instructions/");
  EXPECT_EQ((*events)[3].attr.config, std::uint64_t{8} << 32 | 1);
  EXPECT_EQ((*events)[2].leader, 0U);
  EXPECT_EQ((*events)[3].leader, 1U);
  EXPECT_EQ(Only("cpu_core/event=0x3c/").attr.type, 8U);
  const auto raw = PlanAll("r3c");
  ASSERT_THAT(raw, IsOk());
  EXPECT_EQ((*raw)[1].name, "cpu_core/r3c/");
  EXPECT_EQ((*raw)[1].attr.type, 8U);
}

TEST_F(PlanCountersTest, OfAGroupHaveALeader) {
  const auto events = PlanAll("{cpu-clock,page-faults}:D,{dummy}");
  ASSERT_THAT(events, IsOk());
  EXPECT_EQ((*events)[0].leader, 0U);
  EXPECT_EQ((*events)[1].leader, 0U);
  EXPECT_EQ((*events)[2].leader, std::nullopt);
  EXPECT_TRUE((*events)[0].attr.Has(perfdata::kDisabled));
  EXPECT_FALSE((*events)[1].attr.Has(perfdata::kDisabled));
  EXPECT_TRUE((*events)[0].attr.Has(perfdata::kPinned));
  EXPECT_FALSE((*events)[1].attr.Has(perfdata::kPinned));
  EXPECT_THAT(ErrorOf("{cpu-clock,page-faults}:S"), HasSubstr("modifier S"));
  EXPECT_THAT(ErrorOf("faults/name=x/"), HasSubstr("name= is only for"));
}

}  // namespace
}  // namespace perftape::record
