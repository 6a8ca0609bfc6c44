// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/event_lookup.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

// Compares the lookup's result for a record with those of EventTable and TimeOf.
void ExpectTheSame(EventLookup& lookup, const EventTable& events, const RecordView& record,
                   std::uint64_t sample_type) {
  const Event* event = events.EventOf(record);
  const EventLookup::Answer answer = lookup.Of(record);
  EXPECT_EQ(answer.event, event) << RecordName(record.type) << " of " << record.payload.size()
                                 << " bytes, sample_type " << sample_type;
  EXPECT_EQ(answer.time, event == nullptr ? 0 : TimeOf(record, event->format))
      << RecordName(record.type) << " of " << record.payload.size() << " bytes, sample_type "
      << sample_type;
}

TEST(EventLookup, AnswersAsTableAndTimeOfDoInEveryFormatAndWhereverARecordIsCut) {
  constexpr std::uint64_t kBits[] = {kIdentifier, kTime, kId, kCpu, kStreamId, kTid, kAddr};
  for (unsigned chosen = 0; chosen < 1U << std::size(kBits); ++chosen) {
    std::uint64_t sample_type = kIp | kPeriod;
    for (unsigned i = 0; i < std::size(kBits); ++i) {
      if ((chosen >> i & 1) != 0) sample_type |= kBits[i];
    }
    PerfDataBuilder file;
    file.AddEvent({.sample_type = sample_type, .ids = {5}});
    file.AddEvent({.sample_type = sample_type, .ids = {6, 7}});
    file.AddSample({.ip = 1, .time = 10, .event = 1});
    file.AddComm({.comm = "worker", .time = 20, .event = 1});
    file.AddSample({.ip = 2, .time = 30});
    file.AddRound();
    const Reader reader = file.Open();
    EventLookup lookup(reader.events());
    RecordCursor cursor = reader.records();
    while (cursor.Step()) {
      RecordView record = cursor.record();
      for (std::size_t size = 0; size <= cursor.record().payload.size(); ++size) {
        record.payload = cursor.record().payload.first(size);
        ExpectTheSame(lookup, reader.events(), record, sample_type);
      }
    }
  }
}

TEST(EventLookup, FindsTheTimeWhereTheOnlyEventKeepsIt) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = kIp | kTime});
  file.AddSample({.ip = 1, .time = 10});
  const Reader reader = file.Open();
  RecordCursor cursor = reader.records();
  ASSERT_TRUE(cursor.Step());
  const EventLookup::Answer answer = EventLookup(reader.events()).Of(cursor.record());
  EXPECT_EQ(answer.event, &reader.events()[0]);
  EXPECT_EQ(answer.time, 10U);
}

TEST(EventLookup, RemembersNoAnswerForAnotherId) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {5}});
  file.AddEvent({.ids = {6}});
  for (const std::uint64_t id : {6, 6, 999, 0, 5, 999, 6}) {
    file.Add(LostSamples{1}, SampleId{.time = id, .id = id});
  }
  const Reader reader = file.Open();
  EventLookup lookup(reader.events());
  RecordCursor cursor = reader.records();
  std::vector<const Event*> found;
  while (cursor.Step()) found.push_back(lookup.Of(cursor.record()).event);
  const Event* const first = &reader.events()[0];
  const Event* const second = &reader.events()[1];
  EXPECT_EQ(found,
            (std::vector<const Event*>{second, second, nullptr, first, first, nullptr, second}));
}

TEST(EventLookup, FindsNothingWithoutEvents) {
  const EventTable none;
  EXPECT_EQ(EventLookup(none).Of(RecordView{.type = RecordType::kSample}).event, nullptr);
}

}  // namespace
}  // namespace perftape::perfdata
