// SPDX-License-Identifier: Apache-2.0
#include "record/events/cpu_hotplug.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "formats/base/duration.h"
#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two CPUs with events that run until they go offline.
class CpuHotplugTest : public testing::Test {
 protected:
  void Look(std::uint64_t seconds) {
    std::vector<wire_cpu> counters(2);
    for (const auto& [cpu, events] : events_) {
      counters[static_cast<std::size_t>(cpu)].overflows = events.overflows;
    }
    ASSERT_THAT(hotplug_.Check(seconds * kNsPerSecond, counters), IsOk());
  }

  // Runs a CPU with live events for a second.
  void Run(int cpu) {
    events_[cpu].overflows += 99;
    Idle(cpu);
  }
  void Idle(int cpu) { events_[cpu].enabled_ns += kNsPerSecond; }

  struct Events {
    std::uint64_t overflows = 0, enabled_ns = 0;
  };
  std::map<int, Events> events_ = {{0, {}}, {1, {}}};
  std::vector<int> online_ = {0, 1};
  std::vector<int> reopened_;
  bool is_sampled_ = true;
  CpuHotplug hotplug_{{.online = [this]() -> Result<std::vector<int>> { return online_; },
                       .enabled_ns = [this](int cpu) -> Result<std::uint64_t> {
                         if (!is_sampled_) return Fail(ErrorCode::kNotFound, "no sampling event");
                         return events_.at(cpu).enabled_ns;
                       },
                       .reopen = [this](int cpu) -> Status {
                         if (std::ranges::find(online_, cpu) == online_.end()) {
                           return Fail(ErrorCode::kInvalidArgument, "offline");
                         }
                         reopened_.push_back(cpu);
                         return {};
                       }},
                      std::vector<int>{0, 1, 2},
                      std::vector<int>{0, 1}};
};

TEST_F(CpuHotplugTest, LeavesCpusAloneThatRunOrIdle) {
  for (std::uint64_t second = 1; second < 9; ++second) {
    Run(0);
    Idle(1);
    Look(second);
  }
  EXPECT_THAT(reopened_, IsEmpty());
  EXPECT_THAT(hotplug_.absences(), IsEmpty());
}

TEST_F(CpuHotplugTest, ReopensTheEventsOfACpuThatWasOffline) {
  Run(1);
  Look(1);
  online_ = {0};
  Idle(0);
  Look(2);
  EXPECT_FALSE(hotplug_.is_recorded(1));
  EXPECT_TRUE(hotplug_.is_recorded(0));
  EXPECT_THAT(hotplug_.absences(), ElementsAre(AbsentCpu{1, kNsPerSecond, std::nullopt}));
  online_ = {0, 1};
  Idle(0);
  Look(3);
  EXPECT_THAT(reopened_, ElementsAre(1));
  EXPECT_TRUE(hotplug_.is_recorded(1));
  EXPECT_THAT(hotplug_.absences(), ElementsAre(AbsentCpu{1, kNsPerSecond, 3 * kNsPerSecond}));
}

TEST_F(CpuHotplugTest, DetectsAShortAbsenceByTheClock) {
  Run(1);
  Look(1);
  for (std::uint64_t second = 2; second < 5; ++second) {
    Idle(0);
    Look(second);  // the events of CPU 1 have stopped, but it is in the list
  }
  EXPECT_THAT(reopened_, ElementsAre(1));
  EXPECT_THAT(hotplug_.absences(), ElementsAre(AbsentCpu{1, kNsPerSecond, 3 * kNsPerSecond}));
}

TEST_F(CpuHotplugTest, GoesByTheListWhereACpuIsNotSampled) {
  is_sampled_ = false;
  for (std::uint64_t second = 1; second < 5; ++second) Look(second);
  EXPECT_THAT(reopened_, IsEmpty());
  online_ = {0};
  Look(5);
  online_ = {0, 1};
  Look(6);
  EXPECT_THAT(reopened_, ElementsAre(1));
}

TEST_F(CpuHotplugTest, AddsACpuThatComesOnline) {
  Look(1);
  online_ = {0, 1, 2};
  Idle(0), Idle(1);
  Look(2);
  EXPECT_THAT(reopened_, ElementsAre(2));
  EXPECT_THAT(hotplug_.absences(), IsEmpty());
}

TEST_F(CpuHotplugTest, DoesNotLookAtEveryFlush) {
  Look(1);
  online_ = {0};
  ASSERT_THAT(hotplug_.Check(kNsPerSecond + 1000, std::vector<wire_cpu>(2)), IsOk());
  EXPECT_TRUE(hotplug_.is_recorded(1));
}

}  // namespace
}  // namespace perftape::record
