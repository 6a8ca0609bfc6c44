// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/pauses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "formats/bundle/recording_notes.h"

namespace perftape::timeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(PausesOf, AreThoseOfAllEventsAndOfWaits) {
  convert::ImportReport input;
  EXPECT_THAT(PausesOf(input), IsEmpty());
  bundle::RecordingNotes notes;
  notes.pauses = {{"cpu-clock", 1, 10, {{1, 11}}},
                  {"offcpu-time", 2, 20, {{30, 40}, {50, 60}}},
                  {"offcpu-disk-time", 2, 20, {{30, 40}, {50, 60}}}};
  input.recording_notes = std::make_shared<bundle::RecordingNotes>(notes);
  std::vector<std::pair<std::int64_t, std::int64_t>> pauses;
  for (const Span& pause : PausesOf(input)) pauses.emplace_back(pause.start, pause.end);
  EXPECT_THAT(pauses, ElementsAre(std::pair(30, 40), std::pair(50, 60)));
}

Times NotRecorded(const std::vector<Interval>& intervals) {
  Times times;
  for (const Interval& one : intervals) {
    if (one.state == State::kNotRecorded) times.emplace_back(one.time.start, one.time.end);
  }
  return times;
}

TEST(BlankPauses, KeepsTheRest) {
  const Interval running{.time = {0, 100}, .state = State::kRunning, .short_waits = 50};
  std::vector<Interval> intervals = {running};
  BlankPauses(std::vector<Span>{{-10, 10}, {20, 30}, {25, 40}, {90, 200}, {300, 400}}, intervals);
  EXPECT_THAT(NotRecorded(intervals), ElementsAre(std::pair(0, 10), std::pair(20, 30),
                                                  std::pair(30, 40), std::pair(90, 100)));
  EXPECT_EQ(intervals[1].time.start, 10);
  EXPECT_EQ(intervals[1].short_waits, 5);
  EXPECT_EQ(intervals.back().short_waits, 0);
}

TEST(BlankPauses, SurvivesEmptyPauses) {
  std::vector<Interval> intervals = {{.time = {0, 100}, .state = State::kSleep}};
  BlankPauses(std::vector<Span>{{50, 50}, {60, 55}}, intervals);
  EXPECT_THAT(NotRecorded(intervals), IsEmpty());
  ASSERT_EQ(intervals.size(), 1);
}

}  // namespace
}  // namespace perftape::timeline
