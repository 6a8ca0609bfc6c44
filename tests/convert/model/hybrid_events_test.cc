// SPDX-License-Identifier: Apache-2.0
#include "convert/model/hybrid_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/profile_builder.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;

TEST(NameOnAllCores, LeavesOutThePmu) {
  EXPECT_EQ(NameOnAllCores("cpu_core/cycles/"), "cycles");
  EXPECT_EQ(NameOnAllCores("cpu_atom/cycles/P"), "cycles:P");
  EXPECT_EQ(NameOnAllCores("cpu_atom/cycles/:uP"), "cycles:uP");
  EXPECT_EQ(NameOnAllCores("armv8_cortex_a53/cpu_cycles/u"), "cpu_cycles:u");
}

TEST(NameOnAllCores, IsEmptyForOtherEvents) {
  for (const std::string_view name :
       {"cycles", "cpu_core", "cpu_core/", "cpu_core//", "cpu/cycles/", "cpu_core/event=0x3c/",
        "uncore_imc/data_reads/", "/cycles/", ""}) {
    EXPECT_EQ(NameOnAllCores(name), "") << name;
  }
}

// Returns "name samples period" of each event after JoinHybridEvents, of events with one sample.
std::vector<std::string> Joined(std::initializer_list<std::string_view> names) {
  ProfileBuilder builder;
  for (const std::string_view name : names) {
    const EventId event =
        builder.Add(Event{.name = builder.Add(name), .unit = builder.Add("count")});
    builder.Add(Sample{.event = event, .count = 1, .period = 10});
  }
  const Profile profile = JoinHybridEvents(std::move(builder).Finish());
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    lines.push_back(std::string(profile.text(profile[sample.event].name)) + " " +
                    std::to_string(sample.count) + " " + std::to_string(sample.period));
  }
  EXPECT_EQ(profile.events().size(), lines.size());
  return lines;
}

TEST(JoinHybridEvents, AddsUpTheCores) {
  EXPECT_THAT(Joined({"cpu_core/cycles/", "page-faults", "cpu_atom/cycles/"}),
              ElementsAre("cycles 2 20", "page-faults 1 10"));
}

TEST(JoinHybridEvents, KeepsAnEventOfOneTypeOfCores) {
  EXPECT_THAT(Joined({"cpu_core/cycles/", "cpu_atom/instructions/"}),
              ElementsAre("cpu_core/cycles/ 1 10", "cpu_atom/instructions/ 1 10"));
  EXPECT_THAT(Joined({"cpu_core/cycles/u", "cpu_atom/cycles/"}),
              ElementsAre("cpu_core/cycles/u 1 10", "cpu_atom/cycles/ 1 10"));
}

}  // namespace
}  // namespace perftape::convert
