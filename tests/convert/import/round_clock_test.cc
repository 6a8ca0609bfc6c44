// SPDX-License-Identifier: Apache-2.0
#include "convert/import/round_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/rounds.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::convert {
namespace {

using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::ElementsAre;

// Returns the offsets of a file's samples in the order of their sort keys.
std::vector<std::uint64_t> BySortKey(Bytes file, std::uint64_t& out_of_order) {
  const auto reader = perfdata::Reader::FromBytes(file);
  perfdata::EventLookup lookup(reader->events());
  perfdata::RecordCursor cursor = reader->records();
  RoundClock clock;
  std::vector<std::pair<SortKey, std::uint64_t>> offsets;
  while (cursor.Step()) {
    const SortKey key = clock.KeyOf(cursor.record(), lookup.Of(cursor.record()).time);
    if (cursor.record().type == RecordType::kSample) {
      offsets.emplace_back(key, cursor.record().file_offset);
    }
  }
  out_of_order = clock.out_of_order();
  std::ranges::sort(offsets);
  std::vector<std::uint64_t> sorted;
  for (const auto& [key, offset] : offsets) sorted.push_back(offset);
  return sorted;
}

// Returns the same in the order in which InTimeOrder delivers them.
std::vector<std::uint64_t> Delivered(Bytes file, std::uint64_t& out_of_order) {
  const auto reader = perfdata::Reader::FromBytes(file);
  perfdata::InTimeOrder cursor(reader->records(), reader->events());
  std::vector<std::uint64_t> offsets;
  while (cursor.Step()) {
    if (cursor.record().type == RecordType::kSample) offsets.push_back(cursor.record().file_offset);
  }
  out_of_order = cursor.out_of_order();
  return offsets;
}

PerfDataBuilder FileOf(std::initializer_list<int> times) {
  PerfDataBuilder file;
  file.AddEvent();
  for (const int time : times) {
    if (time < 0) {
      file.AddRound();
    } else {
      file.AddSample({.ip = 0x10, .time = static_cast<std::uint64_t>(time)});
    }
  }
  return file;
}

void ExpectSameOrder(std::initializer_list<int> times) {
  const std::vector<std::byte> file = FileOf(times).Build();
  std::uint64_t late = 0, delivered_late = 0;
  EXPECT_EQ(BySortKey(file, late), Delivered(file, delivered_late));
  EXPECT_EQ(late, delivered_late);
}

TEST(RoundClock, SortsByTimeAsRecordsAreDelivered) {
  ExpectSameOrder({30, 10, 20, 10});
}

TEST(RoundClock, PutsRecordsWithoutATimeFirst) {
  ExpectSameOrder({30, 0, 20, 0, 10});
}

TEST(RoundClock, PutsRecordsWithoutATimeAfterReleasedRounds) {
  ExpectSameOrder({10, 30, -1, 20, 40, -1, 0, 35, 50, -1, 0, 45});
}

// perf delivers it after newer ones; here its time decides.
TEST(RoundClock, SortsALateRecordByItsTime) {
  std::uint64_t late = 0;
  const std::vector<std::uint64_t> late_order =
      BySortKey(FileOf({30, 20, -1, -1, 10, 40, -1, -1, 25, 45}).Build(), late);
  EXPECT_EQ(late, 2U);
  PerfDataBuilder file = FileOf({30, 20, -1, -1, 10, 40, -1, -1, 25, 45});
  const perfdata::Reader reader = file.Open();
  std::vector<std::uint64_t> times;
  for (const std::uint64_t offset : late_order) {
    const auto record = reader.records_from(offset).Next().value().value();
    times.push_back(TimeOf(record, reader.events()[0].format));
  }
  EXPECT_THAT(times, ElementsAre(10, 20, 25, 30, 40, 45));
}

TEST(RoundClock, CountsWhatComesTooLate) {
  std::uint64_t late = 0;
  BySortKey(FileOf({30, -1, -1, 10, 40, 20}).Build(), late);
  EXPECT_EQ(late, 2U);
}

}  // namespace
}  // namespace perftape::convert
