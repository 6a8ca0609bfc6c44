// SPDX-License-Identifier: Apache-2.0
#include "convert/records/statistics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/perfdata_builder.h"

namespace perftape::records {
namespace {

using perfdata::PerfDataBuilder;
using perfdata::RecordType;

TEST(CountRecords, CountsEachTypeAndEachEvent) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls"});
  file.AddSample({.time = 1, .period = 10});
  file.AddSample({.time = 2, .period = 20});
  file.AddSample({.time = 3, .period = 1, .event = 1});
  const Statistics counted = CountRecords(file.Open());
  EXPECT_EQ(counted.records.at(RecordType::kComm), 1U);
  EXPECT_EQ(counted.records.at(RecordType::kSample), 3U);
  EXPECT_EQ(counted.events.at(0).samples, 2U);
  EXPECT_EQ(counted.events.at(0).period, 30U);
  EXPECT_EQ(counted.events.at(1).samples, 1U);
}

TEST(CountRecords, DistinguishesLostRecordsFromLostSamples) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddLost(5, 1);
  file.AddLost(2, 2);
  file.AddLostSamples(30, 3);
  const Statistics counted = CountRecords(file.Open());
  EXPECT_EQ(counted.lost_records, 7U);
  EXPECT_EQ(counted.lost_samples, 30U);
  EXPECT_EQ(counted.events.at(0).lost_samples, 30U);
  EXPECT_EQ(counted.records.at(RecordType::kLost), 2U);
}

TEST(CountRecords, KeepsWhatItCountedBeforeTheDamage) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.time = 1});
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4});
  const Statistics counted = CountRecords(file.Open());
  EXPECT_EQ(counted.events.at(0).samples, 1U);
  ASSERT_TRUE(counted.damage);
  EXPECT_EQ(counted.damage->code, ErrorCode::kCorrupt);
}

TEST(CountRecords, CountsByCommAndDsoAtTheTimeOfTheSample) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "sh", .time = 1});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/sh", .time = 2});
  file.AddSample({.ip = 0x1010, .pid = 7, .tid = 7, .time = 3, .period = 10});
  file.AddSample({.ip = 0x1010, .pid = 7, .tid = 7, .time = 6, .period = 20});
  file.AddSample({.ip = 0x9010, .pid = 7, .tid = 7, .time = 7, .period = 30});
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls", .time = 4, .misc = perfdata::kMiscCommExec});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/bin/ls", .time = 5});
  const Statistics counted = CountRecords(file.Open());
  EXPECT_EQ(counted.comms.at("sh").period, 10U);
  EXPECT_EQ(counted.comms.at("ls").samples, 2U);
  EXPECT_EQ(counted.comms.at("ls").period, 50U);
  EXPECT_EQ(counted.dsos.at("sh").period, 10U);
  EXPECT_EQ(counted.dsos.at("ls").period, 20U);
  EXPECT_EQ(counted.dsos.at("[unknown]").period, 30U);
}

TEST(CountRecords, CountsATruncatedSample) {
  PerfDataBuilder file;
  file.AddEvent();
  const std::size_t start = file.records().size();
  file.AddSample({.ip = 0x1010, .time = 3, .period = 10, .callchain = {0x1010}});
  std::vector<std::byte> record(file.records().begin() + std::ptrdiff_t(start),
                                file.records().end());
  record[record.size() - 16] = std::byte{200};  // the number of entries
  file.AddRaw(record);
  const perfdata::Reader reader = file.Open();
  const Statistics counted = CountRecords(reader);
  EXPECT_EQ(counted.first_unread, fmt::format("{:#x}", reader.data_offset() + record.size()));
  EXPECT_EQ(counted.events.at(0).samples, 2U);
  EXPECT_EQ(counted.events.at(0).period, 20U);
  EXPECT_EQ(counted.cut_off_samples, 1U);
  EXPECT_EQ(counted.skipped_samples, 0U);
}

// Returns a recording that is long enough to be read in ranges, with changing names and mappings.
PerfDataBuilder LongRecording() {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddEvent();
  const std::vector<std::uint64_t> deep(1000, 0x1010);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t time = 1000 + 10 * i;
    const auto tid = static_cast<std::uint32_t>(7 + i % 5);
    if (i % 50 == 0) {
      file.AddComm({.pid = 7, .tid = tid, .comm = fmt::format("c{}", i), .time = time});
    }
    if (i % 70 == 0) {
      file.AddMmap(
          {.pid = 7, .tid = 7, .start = 0x1000, .path = fmt::format("/m{}", i), .time = time});
    }
    if (i % 90 == 0) file.AddLostSamples(3, time);
    file.AddSample({.ip = 0x1010 + 0x1000 * (i % 3),
                    .pid = 7,
                    .tid = tid,
                    .time = time,
                    .period = i,
                    .callchain = deep,
                    .event = i % 2});
  }
  return file;
}

void ExpectTheSameWithSeveralThreads(PerfDataBuilder& file) {
  const perfdata::Reader reader = file.Open();
  const Statistics one = CountRecords(reader);
  for (const unsigned threads : {2U, 7U}) {
    const Statistics several = CountRecords(reader, threads);
    EXPECT_EQ(several.records, one.records);
    EXPECT_EQ(several.events, one.events);
    EXPECT_EQ(several.comms, one.comms);
    EXPECT_EQ(several.dsos, one.dsos);
    EXPECT_EQ(several.lost_records, one.lost_records);
    EXPECT_EQ(several.lost_samples, one.lost_samples);
  }
}

TEST(CountRecords, CountsTheSameWithSeveralThreads) {
  PerfDataBuilder file = LongRecording();
  EXPECT_TRUE(CountInRanges(file.Open(), 2));
  ExpectTheSameWithSeveralThreads(file);
}

TEST(CountRecords, CountsTheSameWithSeveralThreadsWhereMappingsEndWithinAPage) {
  PerfDataBuilder file = LongRecording();
  file.AddMmap(
      {.pid = 7, .tid = 7, .start = 0x1000, .length = 0x20, .path = "/short", .time = 1500});
  EXPECT_FALSE(CountInRanges(file.Open(), 2));
  ExpectTheSameWithSeveralThreads(file);
}

TEST(CountRecords, CountsTheSameWithSeveralThreadsOfADamagedEnd) {
  PerfDataBuilder file = LongRecording();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4});
  EXPECT_FALSE(CountInRanges(file.Open(), 2));
  ExpectTheSameWithSeveralThreads(file);
}

TEST(CountRecords, GivesTheNameOfAnUnknownThreadToNoThreadThatItStarts) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.pid = 7, .tid = 7, .time = 1});
  file.AddFork({.pid = 7, .ppid = 7, .tid = 8, .ptid = 7, .time = 2});
  file.AddSample({.pid = 7, .tid = 8, .time = 3});
  const Statistics counted = CountRecords(file.Open());
  EXPECT_EQ(counted.comms.at(":7").samples, 1U);
  EXPECT_EQ(counted.comms.at(":8").samples, 1U);
}

}  // namespace
}  // namespace perftape::records
