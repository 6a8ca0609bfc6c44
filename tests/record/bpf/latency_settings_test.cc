// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/latency_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "formats/perfdata/system_call_names.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

wire_latency_settings SettingsOf(std::initializer_list<const char*> probes) {
  std::vector<BpfEvent> events;
  for (const char* const probe : probes) {
    events.push_back({.cause = SampleCause::kLatency, .latency = {.probe = probe}});
  }
  return LatencySettings(events).value();
}

wire_call CallOf(const wire_latency_settings& settings, std::string_view name) {
  return settings.calls[perfdata::SystemCallNumber(name).value()];
}

TEST(LatencySettings, ConcernOnlyTheCallsOfTheProbes) {
  const wire_latency_settings settings = SettingsOf({"read", "syscall=getppid"});
  EXPECT_EQ(CallOf(settings, "pread64").slots[0], 1U);
  EXPECT_EQ(CallOf(settings, "pread64").object, WIRE_CALL_FD);
  EXPECT_EQ(CallOf(settings, "getppid").slots[0], 2U);
  EXPECT_EQ(CallOf(settings, "write").slots[0], 0U);
}

TEST(LatencySettings, GoOnToOtherProgramsOnlyForTheirProbes) {
  const wire_latency_settings files = SettingsOf({"read"});
  EXPECT_EQ(CallOf(files, "sendto").dns, WIRE_DNS_NONE);
  EXPECT_EQ(CallOf(files, "accept4").object, WIRE_CALL_NUMBER);
  EXPECT_EQ(CallOf(SettingsOf({"dns"}), "sendto").dns, WIRE_DNS_SEND_TO);
  EXPECT_EQ(CallOf(SettingsOf({"tcp-accept"}), "accept4").object, WIRE_CALL_ACCEPT);
  EXPECT_EQ(CallOf(SettingsOf({"tcp-rtt"}), "accept4").object, WIRE_CALL_ACCEPT);
}

TEST(LatencySettings, RefuseMoreProbesOfCallsThanThereIsRoomFor) {
  std::vector<BpfEvent> events(WIRE_SYSCALL_SLOTS + 1);
  for (BpfEvent& event : events) {
    event = {.cause = SampleCause::kLatency, .latency = {.probe = "syscall=getppid"}};
  }
  EXPECT_THAT(LatencySettings(events), FailsWith(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace perftape::record
