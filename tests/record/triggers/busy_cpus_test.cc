// SPDX-License-Identifier: Apache-2.0
#include "record/triggers/busy_cpus.h"

#include <gtest/gtest.h>

#include "formats/base/duration.h"
#include "record/triggers/trigger_set.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kStat =
    "cpu  11 22 33 444 55 6 7 8 9 10\n"
    "cpu0 10 20 30 400 50 1 2 3 4 5\n"
    "cpu1 1 2 3 44 5 5 5 5 5 5\n"
    "intr 1 2 3\nctxt 5\n";

TEST(SumCpuTicks, CountsAllButIdleAndIowaitAsBusy) {
  EXPECT_EQ(SumCpuTicks(kStat, {0}), (CpuTicks{.busy = 66, .all = 516}));
  EXPECT_EQ(SumCpuTicks(kStat, {}), (CpuTicks{.busy = 87, .all = 586}));
  EXPECT_EQ(SumCpuTicks(kStat, {5}), CpuTicks{});
}

TEST(BusyWindow, FiresAfterAWholeWindowAboveTheLimit) {
  BusyWindow window({.percent = 80, .window = 2s});
  EXPECT_FALSE(window.Add(1 * kNsPerSecond, {.busy = 0, .all = 0}));
  EXPECT_FALSE(window.Add(2 * kNsPerSecond, {.busy = 90, .all = 100}));
  EXPECT_EQ(window.Add(3 * kNsPerSecond, {.busy = 180, .all = 200}), 90);
}

TEST(BusyWindow, BeginsAgainAfterItFired) {
  BusyWindow window({.percent = 80, .window = 2s});
  (void)window.Add(1 * kNsPerSecond, {.busy = 0, .all = 0});
  EXPECT_TRUE(window.Add(3 * kNsPerSecond, {.busy = 200, .all = 200}));
  EXPECT_FALSE(window.Add(4 * kNsPerSecond, {.busy = 300, .all = 300}));
  EXPECT_TRUE(window.Add(5 * kNsPerSecond, {.busy = 400, .all = 400}));
}

TEST(BusyWindow, ForgetsWhatIsOlderThanTheWindow) {
  BusyWindow window({.percent = 50, .window = 2s});
  (void)window.Add(1 * kNsPerSecond, {.busy = 0, .all = 0});
  (void)window.Add(2 * kNsPerSecond, {.busy = 0, .all = 100});
  EXPECT_FALSE(window.Add(3 * kNsPerSecond, {.busy = 90, .all = 200}));
  EXPECT_EQ(window.Add(4 * kNsPerSecond, {.busy = 180, .all = 300}), 90);
}

TEST(BusyWindow, IsNotMisledByACpuThatGoesOffline) {
  BusyWindow window({.percent = 50, .window = 1s});
  (void)window.Add(1 * kNsPerSecond, {.busy = 1000, .all = 2000});
  EXPECT_FALSE(window.Add(2 * kNsPerSecond, {.busy = 500, .all = 1100}));
  EXPECT_TRUE(window.Add(3 * kNsPerSecond, {.busy = 590, .all = 1200}));
}

TEST(HitRate, CountsTheLastSecond) {
  HitRate rate(2);
  EXPECT_FALSE(rate.Add(1 * kNsPerSecond));
  EXPECT_FALSE(rate.Add(1 * kNsPerSecond + 1));
  EXPECT_FALSE(rate.Add(2 * kNsPerSecond));  // the first is a second ago
  EXPECT_TRUE(rate.Add(2 * kNsPerSecond));
  EXPECT_FALSE(rate.Add(2 * kNsPerSecond));  // counted anew
}

TEST(HitRate, OfZeroFiresAtEachHit) {
  HitRate rate(0);
  EXPECT_TRUE(rate.Add(1));
  EXPECT_TRUE(rate.Add(2));
}

TEST(Cooldown, AdmitsOneTriggerInItsTime) {
  Cooldown cooldown(10);
  EXPECT_TRUE(cooldown.Admits(3, 5, false));
  cooldown.Begin(5);
  EXPECT_FALSE(cooldown.Admits(2, 14, false));
  EXPECT_TRUE(cooldown.Admits(1, 15, false));
  EXPECT_EQ(cooldown.ignored(), 4u);
}

TEST(Cooldown, AdmitsNoTriggerWhileAFileIsWritten) {
  Cooldown cooldown(10);
  EXPECT_FALSE(cooldown.Admits(1, 5, true));
  EXPECT_EQ(cooldown.ignored(), 1u);
}

TEST(PressureWatch, NamesAKernelWithoutPressure) {
  const TempDir empty;
  const auto watch =
      PressureWatch::Open({.resource = "cpu", .stalled = 1ms, .window = 1s}, empty.path());
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, ErrorCode::kNotFound);
  EXPECT_NE(watch.error().message.find("CONFIG_PSI=y"), std::string::npos);
}

TEST(PressureWatch, WritesTheThresholdInMicroseconds) {
  const TempDir directory;
  directory.Write("memory", "");
  ASSERT_TRUE(PressureWatch::Open(
      {.resource = "memory", .is_full = true, .stalled = 150ms, .window = 1s}, directory.path()));
  EXPECT_EQ(ReadWholeFile(directory / "memory").value(), std::string("full 150000 1000000\0", 20));
}

}  // namespace
}  // namespace perftape::record
