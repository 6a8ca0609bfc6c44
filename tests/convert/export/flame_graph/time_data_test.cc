// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/time_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace perftape::flame_graph {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using timeline::State;

// All numbers of these tests are a byte, but one with kHasTimeouts, which are two.
std::vector<int> Encode(const TimeLanes* lanes, TextColumn& texts) {
  Encoder out;
  AppendTime(lanes, texts, out);
  std::vector<int> numbers;
  for (const std::byte byte : std::move(out).Finish()) numbers.push_back(static_cast<int>(byte));
  return numbers;
}

TEST(TimeData, IsZeroWithoutTimes) {
  TextColumn texts;
  EXPECT_THAT(Encode(nullptr, texts), ElementsAre(0));
}

TEST(TimeData, HasColumns) {
  TimeLanes time = {.start_ns = 9, .unit_ns = 10, .length = 100, .shortest = 3, .sample_time = 4};
  time.has_wakeups = true;
  time.main_lane = 1;
  time.cpu_waits = {.waited = 70, .not_recorded = 60};
  time.kinds = {EventKind::kWait};
  time.lanes = {{.pid = 7, .tid = 8, .comm = "app", .start = 5}, {.pid = 7, .tid = 9, .parent = 0}};
  time.lanes[0].intervals = {{.length = 20, .state = State::kRunning, .short_waits = 2},
                             {.length = 30,
                              .state = State::kLock,
                              .is_sample = true,
                              .tab = 0,
                              .node = 4,
                              .waker = WakerCode::kTimer,
                              .woken_before_end = 1,
                              .timeouts = 9}};
  time.lanes[0].samples = {{{.time = 10, .node = 1, .count = 1, .period = 50},
                            {.time = 25, .node = 2, .count = 1, .period = 60}}};
  time.lanes[1].samples = {{}};
  time.markers = {{.type = MarkerType::kExec, .time = 6, .lane = 0, .text = "app"},
                  {.type = MarkerType::kLoss, .time = 8, .text = "12"}};
  time.windows = {.name = "request",
                  .count = 9,
                  .shown = {{.lane = 1, .start = 5, .length = 30}, {.start = 7, .length = 40}}};
  TextColumn texts;
  constexpr int kRunningWithShortWaits = 64, kLockWithAll = 3 + 8 + 16 + 32 + 128;
  const std::vector<int> facts = {3, 9, 10, 100, 3, 4, kHasIntervals | kHasWakeups, 2, 70, 60};
  const std::vector<int> kinds = {2};
  const std::vector<int> lanes = {7, 7, 8, 9, 1, 0, 5, 0, 0, 1, 2, 0};
  const std::vector<int> intervals = {
      kRunningWithShortWaits, kLockWithAll, 1, 20, 30, 0, 4, 2, 1, 2, 9};
  const std::vector<int> samples = {2, 0, 10, 15, 1, 2, 0, 1, 1, 50, 60};
  const std::vector<int> markers = {2, 6, 2, 1, 4, 1, 0, 1, 2};
  const std::vector<int> windows = {3, 9, 2, 1, 0, 5, 2, 30, 40};
  std::vector<int> all;
  for (const auto& part : {facts, kinds, lanes, intervals, samples, markers, windows}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  EXPECT_THAT(Encode(&time, texts), ElementsAreArray(all));
  EXPECT_EQ(texts.joined(), "\napp\n12\nrequest\n");
}

// Returns the end of what is encoded for samples with these counts and periods.
std::vector<int> NumbersOf(const std::vector<LaneSample>& samples) {
  TimeLanes time = {.length = 10};
  time.kinds = {EventKind::kOther};
  time.lanes = {{.pid = 1, .tid = 1}};
  time.lanes[0].samples = {samples};
  TextColumn texts;
  std::vector<int> all = Encode(&time, texts);
  all.resize(all.size() - 1 - 3);                    // the numbers of markers and of windows
  all.erase(all.begin(), all.begin() + 10 + 1 + 6);  // facts, kind, lane
  all.erase(all.begin(), all.begin() + 1 + 2 * static_cast<std::ptrdiff_t>(samples.size()));
  return all;
}

TEST(TimeData, KeepsNumbersShort) {
  EXPECT_THAT(NumbersOf({}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(NumbersOf({{.count = 2, .period = 6}, {.count = 2, .period = 6}}),
              ElementsAre(0, 2, 0, 6));
  EXPECT_THAT(NumbersOf({{.count = 1, .period = 3}, {.count = 2, .period = 6}}),
              ElementsAre(1, 1, 2, 2, 3));
  EXPECT_THAT(NumbersOf({{.count = 1, .period = 3}, {.count = 2, .period = -7}}),
              ElementsAre(1, 1, 2, 1, 3, 0));
}

}  // namespace
}  // namespace perftape::flame_graph
