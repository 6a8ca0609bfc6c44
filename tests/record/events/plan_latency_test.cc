// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_latency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "formats/perfdata/latency_probes.h"
#include "formats/perfdata/system_call_names.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// On a machine that cannot record `unsupported`.
Result<LatencyPlan> PlanOn(std::string_view text, const std::vector<std::string>& unsupported) {
  EventMachine machine;
  machine.latency = [&](std::string_view probe) -> Status {
    if (std::ranges::find(unsupported, probe) == unsupported.end()) return {};
    return Fail(ErrorCode::kUnsupported, "no such tracepoint");
  };
  return PlanLatency(ParseEvents(text).value().front(), machine);
}

Result<std::vector<PlannedEvent>> PlanProbes(std::string_view text) {
  TRY_ASSIGN(LatencyPlan plan, PlanOn(text, {}));
  return std::move(plan.events);
}

std::vector<std::string> ProbesNamed(std::string_view text) {
  const Result<std::vector<PlannedEvent>> planned = PlanProbes(text);
  if (!planned) return {planned.error().message};
  std::vector<std::string> names;
  for (const PlannedEvent& event : *planned) names.push_back(event.name);
  return names;
}

TEST(PlanLatency, HasADefaultSetOfProbesThatCostLittle) {
  EXPECT_THAT(ProbesNamed("latency"),
              ElementsAre("latency:tcp_connect", "latency:block_io", "latency:reclaim"));
  const Result<std::vector<PlannedEvent>> planned = PlanProbes("latency/min=3ms/");
  ASSERT_TRUE(planned);
  for (const PlannedEvent& event : *planned) EXPECT_EQ(event.latency.min_ns, 3'000'000U);
}

TEST(PlanLatency, FindsProbesByNameSetAndGlob) {
  EXPECT_THAT(ProbesNamed("latency:read"), ElementsAre("latency:read"));
  EXPECT_THAT(ProbesNamed("latency:memory"), ElementsAre("latency:page_fault", "latency:reclaim"));
  EXPECT_THAT(ProbesNamed("latency:tcp-*"),
              ElementsAre("latency:tcp_connect", "latency:tcp_accept", "latency:tcp_rtt"));
  EXPECT_EQ(ProbesNamed("latency:*").size(), perfdata::LatencyProbes().size());
}

TEST(PlanLatency, MakesATracepointThatNoKernelHas) {
  const std::vector<PlannedEvent> planned = PlanProbes("latency:read").value();
  const PlannedEvent& event = planned.front();
  EXPECT_EQ(event.cause, SampleCause::kLatency);
  EXPECT_EQ(event.subsystem, "latency");
  EXPECT_EQ(event.attr.type, perfdata::kTypeTracepoint);
  EXPECT_GE(event.attr.config, perfdata::kFirstLatencyEvent);
  EXPECT_EQ(event.settings.id, event.attr.config);
  EXPECT_EQ(event.settings.every, 1U);
  EXPECT_THAT(event.format,
              AllOf(StartsWith("name: read\nID: " + std::to_string(event.attr.config)),
                    HasSubstr("__data_loc char[] file")));
}

TEST(PlanLatency, GivesEachEventANumberOfItsOwn) {
  std::vector<std::uint64_t> numbers;
  const std::vector<PlannedEvent> rows = PlanProbes("latency:*").value();
  for (const PlannedEvent& event : rows) numbers.push_back(event.attr.config);
  for (const std::string_view name : perfdata::SystemCallNames()) {
    const std::string probe = "latency:syscall=" + std::string(name);
    numbers.push_back(PlanProbes(probe).value().front().attr.config);
  }
  EXPECT_LE(*std::ranges::max_element(numbers), 0xffffU);  // common_type
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
}

TEST(PlanLatency, PrefersOptionsToTheDefaultsOfTheRow) {
  EXPECT_EQ(PlanProbes("latency:read").value().front().latency,
            (LatencyOptions{"read", perfdata::FindLatencyProbe("read")->min_ns, true}));
  EXPECT_EQ(PlanProbes("latency:read/min=1ms,errors=off/").value().front().latency,
            (LatencyOptions{"read", 1'000'000, false}));
  const std::vector<PlannedEvent> set = PlanProbes("latency:fs/min=2ms/").value();
  for (const PlannedEvent& event : set) EXPECT_EQ(event.latency.min_ns, 2'000'000U);
}

TEST(PlanLatency, RecordsASingleSystemCall) {
  const std::vector<PlannedEvent> planned = PlanProbes("latency:syscall=openat").value();
  ASSERT_EQ(planned.size(), 1U);
  EXPECT_EQ(planned.front().name, "latency:syscall_openat");
  EXPECT_EQ(planned.front().latency.probe, "syscall=openat");
  EXPECT_THAT(planned.front().format, StartsWith("name: syscall_openat\n"));
}

TEST(PlanLatency, SuggestsWhatWasMeant) {
  EXPECT_THAT(PlanProbes("latency:reed"),
              FailsWith(ErrorCode::kNotFound, AllOf(HasSubstr("no latency probe 'reed'"),
                                                    HasSubstr("did you mean read?"))));
  EXPECT_THAT(PlanProbes("latency:blok"),
              FailsWith(ErrorCode::kNotFound, HasSubstr("did you mean block?")));
  EXPECT_THAT(PlanProbes("latency:syscall=opena"),
              FailsWith(ErrorCode::kNotFound, AllOf(HasSubstr("no system call 'opena'"),
                                                    HasSubstr("did you mean openat or"))));
  EXPECT_THAT(PlanProbes("latency:nothing-*"), FailsWith(ErrorCode::kNotFound));
}

TEST(PlanLatency, RefusesModifiers) {
  EXPECT_THAT(PlanProbes("latency:read:u"),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("takes no modifiers")));
}

TEST(PlanLatency, LeavesOutTheProbesOfASetThatTheMachineLacks) {
  const LatencyPlan plan = PlanOn("latency:memory", {"page-fault"}).value();
  ASSERT_EQ(plan.events.size(), 1U);
  EXPECT_EQ(plan.events.front().name, "latency:reclaim");
  ASSERT_EQ(plan.missing.size(), 1U);
  EXPECT_EQ(plan.missing.front().message,
            "event 'latency:memory': latency:page-fault: no such tracepoint");
}

TEST(PlanLatency, FailsIfTheMachineLacksAllProbes) {
  EXPECT_THAT(PlanOn("latency:page-fault", {"page-fault"}),
              FailsWith(ErrorCode::kUnsupported, "event 'latency:page-fault': no such tracepoint"));
  EXPECT_THAT(PlanOn("latency:memory", {"page-fault", "reclaim"}),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("latency:page-fault")));
}

}  // namespace
}  // namespace perftape::record
