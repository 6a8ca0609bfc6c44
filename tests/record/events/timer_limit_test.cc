// SPDX-License-Identifier: Apache-2.0
#include "record/events/timer_limit.h"

#include <gmock/gmock.h>

#include <vector>

namespace perftape::record {
namespace {

using testing::HasSubstr;

PlannedEvent ClockAt(SamplingRate rate) {
  PlannedEvent event{
      .name = "cpu-clock",
      .attr = CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, rate),
      .cause = SampleCause::kTimer};
  event.settings.period_ns = TimerPeriodNs(rate);
  return event;
}

std::uint64_t Takes14Us() {
  return 14'000;  // with the program, 20: the limit is 25,000 samples per second
}

TEST(LimitTimers, LeavesRatesThatEachMachineCarriesWithoutMeasuring) {
  std::vector<PlannedEvent> events = {ClockAt(Frequency{19999})};
  const auto fails = []() -> std::uint64_t {
    ADD_FAILURE();
    return 1;
  };
  EXPECT_FALSE(LimitTimers(events, fails));
  EXPECT_EQ(events[0].attr.sample_period, 19999U);
}

TEST(LimitTimers, LowersTheFrequencyInTheAttributeAndInTheProgram) {
  std::vector<PlannedEvent> events = {ClockAt(Frequency{100'000})};
  EXPECT_THAT(
      LimitTimers(events, Takes14Us).value(),
      HasSubstr("100000 samples per second on each CPU are more than this machine can take, "
                "because each one costs about 20 us: recorded at 25000"));
  EXPECT_EQ(events[0].attr.sample_period, 25'000U);
  EXPECT_EQ(events[0].settings.period_ns, 40'000U);
}

TEST(LimitTimers, MakesShortPeriodsLonger) {
  std::vector<PlannedEvent> events = {ClockAt(Period{1000})};
  EXPECT_TRUE(LimitTimers(events, Takes14Us));
  EXPECT_EQ(events[0].attr.sample_period, 40'001U);
  EXPECT_EQ(events[0].settings.period_ns, 40'001U);
}

TEST(LimitTimers, LowersSeveralClocksTogetherAndNothingElse) {
  std::vector<PlannedEvent> events = {ClockAt(Frequency{40'000}), ClockAt(Frequency{10'000}),
                                      ClockAt(Frequency{90'000})};
  events[2].cause = SampleCause::kCounter;
  EXPECT_TRUE(LimitTimers(events, Takes14Us));
  EXPECT_EQ(events[0].attr.sample_period, 20'000U);
  EXPECT_EQ(events[1].attr.sample_period, 5'000U);
  EXPECT_EQ(events[2].attr.sample_period, 90'000U);
}

TEST(LimitTimers, AFastMachineCarriesMore) {
  std::vector<PlannedEvent> events = {ClockAt(Frequency{60'000})};
  EXPECT_FALSE(LimitTimers(events, [] { return std::uint64_t{1000}; }));
  EXPECT_EQ(events[0].attr.sample_period, 60'000U);
}

TEST(LimitTimers, ASlowMachineCarriesTheUsualRates) {
  std::vector<PlannedEvent> events = {ClockAt(Frequency{60'000})};
  EXPECT_TRUE(LimitTimers(events, [] { return std::uint64_t{1'000'000}; }));
  EXPECT_EQ(events[0].attr.sample_period, kCarriedRate);
}

}  // namespace
}  // namespace perftape::record
