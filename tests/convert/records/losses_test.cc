// SPDX-License-Identifier: Apache-2.0
#include "convert/records/losses.h"

#include <gmock/gmock.h>

#include "tests/support/perfdata_builder.h"

namespace perftape::records {
namespace {

using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::ElementsAre;
using testing::IsEmpty;

Losses LossesOf(PerfDataBuilder& file) {
  const perfdata::Reader reader = file.Open();
  return FindLosses(reader).value();
}

TEST(FindLosses, AddsUpTheRecordsOfAFileWithoutNotes) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.time = 1});
  file.Add(perfdata::LostSamples{.count = 30}, {.time = 2, .id = 101, .cpu = 1});
  file.Add(perfdata::LostSamples{.count = 12}, {.time = 3, .id = 101, .cpu = 1});
  file.Add(perfdata::LostSamples{.count = 5}, {.time = 4, .id = 101, .cpu = 0});
  const Losses losses = LossesOf(file);
  EXPECT_FALSE(losses.has_notes);
  EXPECT_EQ(losses.notes.samples, 1U);
  EXPECT_THAT(losses.notes.lost,
              ElementsAre(bundle::NotedLoss{"cpu-clock:HG", 1, "lost_samples", 42},
                          bundle::NotedLoss{"cpu-clock:HG", 0, "lost_samples", 5}));
  EXPECT_EQ(losses.noted_samples(), 47U);
  EXPECT_EQ(losses.recorded_samples(), 47U);
}

TEST(FindLosses, KeepsLostRecordsApartFromLostSamples) {
  PerfDataBuilder file;
  file.AddEvent();
  file.Add(perfdata::Lost{.event_id = 101, .count = 7}, {.time = 2, .id = 101, .cpu = 1});
  const Losses losses = LossesOf(file);
  EXPECT_THAT(losses.notes.lost, IsEmpty());
  EXPECT_THAT(losses.notes.lost_processes,
              ElementsAre(bundle::NotedLoss{"cpu-clock:HG", 1, "lost", 7}));
  EXPECT_EQ(losses.recorded_samples(), 0U);
}

TEST(FindLosses, SumsTheTimeInWhichAnEventWasThrottled) {
  PerfDataBuilder file;
  file.AddEvent();
  for (const std::uint64_t begin : {100U, 200U}) {
    perfdata::Throttle throttle;
    throttle.time = begin;
    throttle.id = 101;
    perfdata::Unthrottle end;
    end.time = begin + 30;
    end.id = 101;
    file.Add(throttle, {.time = begin, .id = 101, .cpu = 1});
    file.Add(end, {.time = begin + 30, .id = 101, .cpu = 1});
  }
  EXPECT_THAT(LossesOf(file).notes.throttled,
              ElementsAre(bundle::NotedThrottling{"cpu-clock:HG", 1, 2, 60}));
}

TEST(FindLosses, ListsTheRecordsInTimeOrderUpToTheDamage) {
  PerfDataBuilder file;
  file.AddEvent();
  file.Add(perfdata::LostSamples{.count = 2}, {.time = 20, .id = 101, .cpu = 1});
  file.Add(perfdata::LostSamples{.count = 1}, {.time = 10, .id = 101, .cpu = 0});
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4});
  const Losses losses = LossesOf(file);
  EXPECT_TRUE(losses.damage);
  EXPECT_THAT(losses.records,
              ElementsAre(LossRecord{RecordType::kLostSamples, 10, 0, "cpu-clock:HG", 1},
                          LossRecord{RecordType::kLostSamples, 20, 1, "cpu-clock:HG", 2}));
}

}  // namespace
}  // namespace perftape::records
