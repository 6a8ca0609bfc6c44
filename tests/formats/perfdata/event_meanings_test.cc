// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/event_meanings.h"

#include <gtest/gtest.h>

#include <set>

#include "formats/perfdata/converted.h"

namespace perftape::perfdata {
namespace {

constexpr EventAttr Attr(std::uint32_t type, std::uint64_t config, std::uint64_t sample_type = 0) {
  return {.type = type, .config = config, .sample_type = sample_type};
}

std::string_view UnitOf(std::uint32_t type, std::uint64_t config, std::string_view name) {
  return PeriodUnitOf(Attr(type, config), name);
}

TEST(EventMeanings, NoNameHasTwoRows) {
  std::set<std::string_view> names;
  for (const EventMeaning* row : kEventMeanings) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_EQ(FindEventMeaning(row->name), row);
  }
}

TEST(EventMeanings, AClockIsKnownByItsNumber) {
  EXPECT_EQ(UnitOf(kTypeSoftware, kSoftwareCpuClock, "renamed"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeSoftware, kSoftwareTaskClock, "task-clock:u"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "cpu-clock"), kCount);
}

TEST(EventMeanings, TimeOffCpuIsKnownByItsName) {
  EXPECT_EQ(UnitOf(kTypeSoftware, 10, "offcpu-time"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "offcpu-time:HG"), kNanoseconds);
}

TEST(EventMeanings, OurOtherOffCpuEventsAreBpfOutput) {
  for (const std::string_view name : {"offcpu-disk-time", "offcpu-runnable-time", "wakeup"}) {
    EXPECT_EQ(UnitOf(kTypeSoftware, kSoftwareBpfOutput, name), kNanoseconds);
    EXPECT_EQ(UnitOf(kTypeTracepoint, 77, name), kCount);
  }
}

TEST(EventMeanings, AWaitForALockIsATracepoint) {
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "lock-time"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "lock:contention_begin"), kCount);
}

TEST(EventMeanings, ACallOfALatencyProbeIsATracepoint) {
  EXPECT_EQ(UnitOf(kTypeTracepoint, 0xff00, "latency:tcp_connect"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 0xff40, "latency:syscall_openat"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeSoftware, kSoftwareBpfOutput, "latency:read"), kCount);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "latency:page_fault"), kCount);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "latency:reads"), kCount);
  EXPECT_EQ(PeriodMeaningOf("latency:read"), PeriodMeaning::kLatency);
  EXPECT_EQ(PeriodMeaningOf("latency:page_fault"), PeriodMeaning::kOther);
}

TEST(EventMeanings, AllOtherPeriodsAreCounts) {
  EXPECT_EQ(UnitOf(kTypeHardware, kSoftwareCpuClock, "cycles"), kCount);
  EXPECT_EQ(UnitOf(kTypeSoftware, 2, "page-faults"), kCount);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "sched:offcpu-time"), kCount);
  EXPECT_EQ(UnitOf(kTypeSoftware, 10, "offcpu-times"), kCount);
}

TEST(EventMeanings, WithoutAnAttributeTheNameDecides) {
  EXPECT_EQ(PeriodUnitOf("task-clock:u"), kNanoseconds);
  EXPECT_EQ(PeriodUnitOf("offcpu-disk-time"), kNanoseconds);
  EXPECT_EQ(PeriodUnitOf("page-faults"), kCount);
  EXPECT_EQ(PeriodMeaningOf("cpu-clock:u"), PeriodMeaning::kCpuTime);
  EXPECT_EQ(PeriodMeaningOf("lock-time"), PeriodMeaning::kWait);
  EXPECT_EQ(PeriodMeaningOf("wakeup"), PeriodMeaning::kOther);
  EXPECT_EQ(PeriodMeaningOf("page-faults"), PeriodMeaning::kOther);
}

TEST(EventMeanings, OnlyAWakeupWithAnAddressHasAWokenThread) {
  EXPECT_TRUE(HasWokenThread(Attr(kTypeSoftware, kSoftwareBpfOutput, kAddr), "wakeup:u"));
  EXPECT_TRUE(HasWokenThread(Attr(kTypeSoftware, kSoftwareOfProfile, kAddr), "wakeup"));
  EXPECT_FALSE(HasWokenThread(Attr(kTypeSoftware, kSoftwareBpfOutput), "wakeup"));
  EXPECT_FALSE(HasWokenThread(Attr(kTypeTracepoint, 77, kAddr), "wakeup"));
  EXPECT_FALSE(HasWokenThread(Attr(kTypeSoftware, kSoftwareBpfOutput, kAddr), "offcpu-time"));
}

}  // namespace
}  // namespace perftape::perfdata
