// SPDX-License-Identifier: Apache-2.0
#include "record/control/pause_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::record {
namespace {

using bundle::NotedPause;
using bundle::NotedPauses;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PauseLog, IsEmptyWhileEventsAreOn) {
  EXPECT_THAT(PauseLog({"cpu-clock"}).Noted(100), IsEmpty());
}

TEST(PauseLog, HasOneEntryForEventsThatWereOffTogether) {
  PauseLog log({"cpu-clock", "page-faults"});
  for (const std::size_t event : {0, 1}) log.SwitchOff(event, 10);
  for (const std::size_t event : {0, 1}) log.SwitchOn(event, 30);
  for (const std::size_t event : {0, 1}) log.SwitchOff(event, 90);
  EXPECT_THAT(log.Noted(100), ElementsAre(NotedPauses{"", 2, 30, {{10, 30}, {90, 100}}}));
}

TEST(PauseLog, HasAnEntryForEachEventThatWasOff) {
  PauseLog log({"cpu-clock", "page-faults", "faults"});
  log.SwitchOff(0, 10);
  log.SwitchOff(0, 20);
  log.SwitchOff(1, 30);
  log.SwitchOn(0, 40);
  log.SwitchOn(0, 50);
  EXPECT_THAT(log.Noted(60), ElementsAre(NotedPauses{"cpu-clock", 1, 30, {{10, 40}}},
                                         NotedPauses{"page-faults", 1, 30, {{30, 60}}}));
}

TEST(PauseLog, IsCutAtTheEnd) {
  PauseLog log({"cpu-clock"});
  log.SwitchOff(0, 10);
  log.SwitchOn(0, 20);
  log.SwitchOff(0, 30);
  log.SwitchOn(0, 40);
  log.SwitchOff(0, 50);
  EXPECT_THAT(log.Noted(35), ElementsAre(NotedPauses{"", 2, 15, {{10, 20}, {30, 35}}}));
  EXPECT_THAT(log.Noted(25), ElementsAre(NotedPauses{"", 1, 10, {{10, 20}}}));
  EXPECT_THAT(log.Noted(10), IsEmpty());
}

TEST(PauseLog, CountsPausesThatItDoesNotList) {
  PauseLog log({"cpu-clock"});
  for (std::uint64_t i = 0; i < 5000; ++i) {
    log.SwitchOff(0, 10 * i);
    log.SwitchOn(0, 10 * i + 4);
  }
  const NotedPauses noted = log.Noted(60'000).front();
  EXPECT_EQ(noted.times, 5000);
  EXPECT_EQ(noted.off_ns, 20'000);
  EXPECT_THAT(noted.pauses, SizeIs(1000));
  EXPECT_EQ(noted.pauses.back(), (NotedPause{9990, 9994}));
}

}  // namespace
}  // namespace perftape::record
