// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/found_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "tests/support/perfdata_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::cli {
namespace {

using convert::Globs;
using perfdata::PerfDataBuilder;

class FindWindowsTest : public testing::Test {
 protected:
  // A recording with three windows of the thread 7, of 10, 30 and 20 ns, and another event.
  std::filesystem::path Recording() const {
    PerfDataBuilder file;
    for (const char* name : {"begin", "end", "cpu-clock"}) file.AddEvent({.name = name});
    file.AddFeature(perfdata::FeatureBit::kEventDesc, file.Description());
    std::uint64_t at = 1000;
    for (const std::uint64_t length : {10U, 30U, 20U}) {
      Hit(file, 0, at);
      Hit(file, 2, at + 1);
      Hit(file, 1, at + length);
      at += 100;
    }
    return directory_.Write("perf.data", file.Build());
  }

  static void Hit(PerfDataBuilder& file, std::size_t event, std::uint64_t time) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = time, .event = event});
  }

  static TimeViewPlan SlowestOf(std::size_t slowest) {
    TimeViewPlan plan;
    plan.time_view.view = TimeView::kPath;
    plan.time_view.events = {.from = Globs("begin"), .to = Globs("end")};
    plan.time_view.windows.slowest = slowest;
    plan.import.time_label = true;
    return plan;
  }

  static Status Find(const std::filesystem::path& input, TimeViewPlan& plan) {
    convert::CombineOptions options;
    options.import = plan.import;
    return FindWindows({input}, options, plan);
  }

  TempDir directory_;
};

TEST_F(FindWindowsTest, LimitsTheTimeToTheChosenOnes) {
  TimeViewPlan plan = SlowestOf(1);
  ASSERT_TRUE(Find(Recording(), plan));
  ASSERT_TRUE(plan.time_view.found);
  EXPECT_EQ(plan.time_view.found->lengths.count, 3U);
  ASSERT_EQ(plan.time_view.found->chosen.size(), 1U);
  EXPECT_EQ(plan.time_view.found->chosen[0].tid, 7U);
  ASSERT_TRUE(plan.import.time);
  EXPECT_EQ(plan.import.time->from->nanoseconds, 1100);
  EXPECT_EQ(plan.import.time->to->nanoseconds, 1130);
}

TEST_F(FindWindowsTest, LimitsTheTimeAlsoToThoseThatAreComparedWith) {
  TimeViewPlan plan = SlowestOf(1);
  plan.time_view.against = timeline::Percentiles{.from = 40, .to = 60};
  ASSERT_TRUE(Find(Recording(), plan));
  ASSERT_EQ(plan.time_view.found->against.size(), 1U);
  EXPECT_EQ(plan.time_view.found->against[0].time.start, 1200);
  EXPECT_EQ(plan.import.time->to->nanoseconds, 1220);
}

TEST_F(FindWindowsTest, LeavesThePlanIfAllTimesAreNeeded) {
  TimeViewPlan all = SlowestOf(1);
  all.time_view.windows.slowest.reset();
  ASSERT_TRUE(Find(Recording(), all));
  EXPECT_FALSE(all.time_view.found);
  EXPECT_FALSE(all.import.time);
}

// The message that there is none names the events of the whole recording.
TEST_F(FindWindowsTest, LeavesThePlanIfThereIsNoPair) {
  TimeViewPlan plan = SlowestOf(1);
  plan.time_view.events.to = Globs("none");
  ASSERT_TRUE(Find(Recording(), plan));
  EXPECT_FALSE(plan.time_view.found);
}

TEST_F(FindWindowsTest, LeavesThePlanOfOtherInputs) {
  TimeViewPlan plan = SlowestOf(1);
  ASSERT_TRUE(Find(directory_.Write("a.folded", "main;work 7\n"), plan));
  EXPECT_FALSE(plan.time_view.found);
}

TEST_F(FindWindowsTest, ForgetsThatSamplesWereLeftOut) {
  TimeViewPlan plan = SlowestOf(1);
  convert::InputReport report;
  report.read.outside_time = 9;
  ForgetOtherTimes(plan, report);
  EXPECT_EQ(report.read.outside_time, 9U);
  ASSERT_TRUE(Find(Recording(), plan));
  ForgetOtherTimes(plan, report);
  EXPECT_EQ(report.read.outside_time, 0U);
}

}  // namespace
}  // namespace perftape::cli
