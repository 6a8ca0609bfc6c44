// SPDX-License-Identifier: Apache-2.0
// Tests which event a record belongs to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/perfdata/reader.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

// Returns the event of the only record of `file`.
const Event* EventOfRecord(const Reader& reader, RecordType type) {
  RecordCursor cursor = reader.records();
  for (auto next = cursor.Next(); next && *next; next = cursor.Next()) {
    if ((*next)->type == type) return reader.events().EventOf(**next);
  }
  return nullptr;
}

TEST(EventTable, FindsEventsByIdentifier) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = kIp | kTid | kIdentifier, .ids = {5}});
  file.AddEvent({.sample_type = kIp | kTid | kPeriod | kIdentifier, .ids = {6, 7}});
  file.AddSample({.ip = 1, .event = 1});
  file.AddComm({.comm = "of the second", .event = 1});
  const Reader reader = file.Open();
  EXPECT_EQ(EventOfRecord(reader, RecordType::kSample), &reader.events()[1]);
  EXPECT_EQ(EventOfRecord(reader, RecordType::kComm), &reader.events()[1]);
}

TEST(EventTable, FindsEventsById) {
  const std::uint64_t sample_type = kIp | kTid | kTime | kAddr | kId | kStreamId | kCpu;
  PerfDataBuilder file;
  file.AddEvent({.sample_type = sample_type, .ids = {5}});
  file.AddEvent({.sample_type = sample_type, .ids = {6}});
  file.AddSample({.ip = 1, .event = 1});
  file.AddComm({.comm = "of the second", .event = 1});
  const Reader reader = file.Open();
  EXPECT_EQ(EventOfRecord(reader, RecordType::kSample), &reader.events()[1]);
  EXPECT_EQ(EventOfRecord(reader, RecordType::kComm), &reader.events()[1]);
}

TEST(EventTable, GivesTheOnlyEventWhateverTheId) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = kIp | kIdentifier, .ids = {5}});
  file.Add(LostSamples{1}, SampleId{.id = 999});
  const Reader reader = file.Open();
  EXPECT_EQ(EventOfRecord(reader, RecordType::kLostSamples), &reader.events()[0]);
}

TEST(EventTable, GivesTheFirstEventForIdZeroAndNoneForAnUnknownOne) {
  for (const std::uint64_t id : {0, 999}) {
    PerfDataBuilder file;
    file.AddEvent({.ids = {5}});
    file.AddEvent({.ids = {6}});
    file.Add(LostSamples{1}, SampleId{.id = id});
    const Reader reader = file.Open();
    EXPECT_EQ(EventOfRecord(reader, RecordType::kLostSamples),
              id == 0 ? &reader.events()[0] : nullptr);
  }
}

TEST(EventTable, ReturnsTheFirstEventWithoutAnId) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = kIp | kTid, .ids = {5}});
  file.AddEvent({.sample_type = kIp | kTid, .ids = {6}});
  file.AddRound();
  file.AddSample({.ip = 1, .event = 1});
  const Reader reader = file.Open();
  EXPECT_EQ(EventOfRecord(reader, RecordType::kFinishedRound), &reader.events()[0]);
  EXPECT_EQ(EventOfRecord(reader, RecordType::kSample), &reader.events()[0]);
}

TEST(EventTable, FindsNoEventInARecordTooShortForItsId) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {5}});
  file.AddEvent({.ids = {6}});
  file.AddHeaderOnly({.type = RecordType::kSample});
  const Reader reader = file.Open();
  EXPECT_EQ(EventOfRecord(reader, RecordType::kSample), nullptr);
}

}  // namespace
}  // namespace perftape::perfdata
