// SPDX-License-Identifier: Apache-2.0
#include "record/triggers/trigger_spec.h"

#include <gtest/gtest.h>

namespace perftape::record {
namespace {

using namespace std::chrono_literals;

template <class Condition>
Condition Parsed(std::string_view text) {
  const TriggerSpec spec = ParseTrigger(text).value();
  EXPECT_EQ(spec.text, text);
  return std::get<Condition>(spec.condition);
}

TEST(ParseTrigger, KnowsPressure) {
  const auto cpu = Parsed<PressureCondition>("psi:cpu some 20%/1s");
  EXPECT_EQ(cpu.resource, "cpu");
  EXPECT_FALSE(cpu.is_full);
  EXPECT_EQ(cpu.stalled, 200ms);
  EXPECT_EQ(cpu.window, 1s);
  const auto memory = Parsed<PressureCondition>("psi:memory  full 0.5%/500ms");
  EXPECT_EQ(memory.resource, "memory");
  EXPECT_TRUE(memory.is_full);
  EXPECT_EQ(memory.stalled, 2500us);
  EXPECT_EQ(Parsed<PressureCondition>("psi:io some 100%/10s").stalled, 10s);
}

TEST(ParseTrigger, KnowsWaits) {
  EXPECT_EQ(Parsed<WaitCondition>("offcpu>500ms").longer_than, 500ms);
  EXPECT_EQ(Parsed<WaitCondition>("offcpu>1.5s").longer_than, 1500ms);
  EXPECT_EQ(Parsed<WaitCondition>("offcpu>7us").longer_than, 7us);
}

TEST(ParseTrigger, KnowsSamples) {
  EXPECT_EQ(Parsed<SampleCondition>("sched:sched_switch").event, "sched:sched_switch");
  EXPECT_FALSE(Parsed<SampleCondition>("offcpu").per_second);
  const auto rate = Parsed<SampleCondition>("page-faults>1000/s");
  EXPECT_EQ(rate.event, "page-faults");
  EXPECT_EQ(rate.per_second, 1000u);
  EXPECT_EQ(Parsed<SampleCondition>("uprobe:/bin/a:f>0/s").per_second, 0u);
}

TEST(ParseTrigger, KnowsBusyCpus) {
  const auto busy = Parsed<BusyCondition>("cpu>80%/5s");
  EXPECT_EQ(busy.percent, 80);
  EXPECT_EQ(busy.window, 5s);
}

TEST(ParseTrigger, RefusesOtherTexts) {
  for (const std::string_view text : {"",
                                      " ",
                                      ">1/s",
                                      "a b",
                                      "cs>",
                                      "cs>5",
                                      "cs>-1/s",
                                      "cs>1.5/s",
                                      "cs>1000001/s",
                                      "cpu>",
                                      "cpu>80%",
                                      "cpu>0%/1s",
                                      "cpu>101%/1s",
                                      "cpu>100%/1s",
                                      "cpu>50%/1ms",
                                      "cpu>50%/2h",
                                      "offcpu>",
                                      "offcpu>500",
                                      "offcpu>0s",
                                      "offcpu>-1s",
                                      "offcpu>1e9s",
                                      "psi:",
                                      "psi:cpu",
                                      "psi:net some 1%/1s",
                                      "psi:cpu any 1%/1s",
                                      "psi:cpu some",
                                      "psi:cpu some 1%",
                                      "psi:cpu some 1/1s",
                                      "psi:cpu some 1%/100ms",
                                      "psi:cpu some 1%/11s",
                                      "psi:cpu some 1%/1s x"}) {
    const auto spec = ParseTrigger(text);
    ASSERT_FALSE(spec) << text;
    EXPECT_EQ(spec.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace perftape::record
