// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/period_unit.h"

#include <gtest/gtest.h>

namespace perftape::perfdata {
namespace {

std::string_view UnitOf(std::uint32_t type, std::uint64_t config, std::string_view name) {
  EventAttr attr;
  attr.type = type;
  attr.config = config;
  return PeriodUnitOf(attr, name);
}

TEST(PeriodUnit, IsNanosecondsForTheClocks) {
  EXPECT_EQ(UnitOf(kTypeSoftware, kSoftwareCpuClock, "renamed"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeSoftware, kSoftwareTaskClock, "task-clock:u"), kNanoseconds);
}

TEST(PeriodUnit, IsNanosecondsForTimeOffCpu) {
  EXPECT_EQ(UnitOf(kTypeSoftware, 10, "offcpu-time"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "offcpu-time:HG"), kNanoseconds);
}

TEST(PeriodUnit, IsNanosecondsForOurOffCpuEvents) {
  for (const std::string_view name : {kOffCpuDiskTime, kOffCpuRunnableTime, kWakeup}) {
    EXPECT_EQ(UnitOf(kTypeSoftware, kSoftwareBpfOutput, name), kNanoseconds);
    EXPECT_EQ(UnitOf(kTypeTracepoint, 77, name), kCount);
  }
}

TEST(PeriodUnit, IsNanosecondsForWaitsForLocks) {
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "lock-time"), kNanoseconds);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "lock:contention_begin"), kCount);
}

TEST(PeriodUnit, IsACountForAllOthers) {
  EXPECT_EQ(UnitOf(kTypeHardware, kSoftwareCpuClock, "cycles"), kCount);
  EXPECT_EQ(UnitOf(kTypeSoftware, 2, "page-faults"), kCount);
  EXPECT_EQ(UnitOf(kTypeTracepoint, 77, "sched:offcpu-time"), kCount);
  EXPECT_EQ(UnitOf(kTypeSoftware, 10, "offcpu-times"), kCount);
}

}  // namespace
}  // namespace perftape::perfdata
