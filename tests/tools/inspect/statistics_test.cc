// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/statistics.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/perfdata_builder.h"

namespace perftape::inspect {
namespace {

using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::HasSubstr;
using testing::StartsWith;

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

TEST(CountRecords, TellsLostRecordsFromLostSamples) {
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

TEST(CountRecords, CountsASampleThatIsShorterThanItSays) {
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

TEST(StatisticsText, BeginsAsPerfReportWritesIt) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls"});
  file.AddSample({.time = 1});
  file.AddSample({.time = 2});
  file.AddLostSamples(30, 3);
  const perfdata::Reader reader = file.Open();
  EXPECT_THAT(StatisticsText(CountRecords(reader), reader.events()),
              StartsWith("\nAggregated stats:\n"
                         "           TOTAL events:          4\n"
                         "            COMM events:          1  (25.0%)\n"
                         "          SAMPLE events:          2  (50.0%)\n"
                         "    LOST_SAMPLES events:          1  (25.0%)\n"
                         "cpu-clock:HG stats:\n"
                         "          SAMPLE events:          2\n"
                         "    LOST_SAMPLES events:         30\n"));
}

TEST(StatisticsText, LeavesOutPerfsLinesOfAnEventWithoutSamples) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddEvent({.config = perfdata::kSoftwareDummy});
  file.AddSample({.time = 1});
  const perfdata::Reader reader = file.Open();
  const std::string text = StatisticsText(CountRecords(reader), reader.events());
  EXPECT_THAT(text, HasSubstr("cpu-clock:HG stats:"));
  EXPECT_THAT(text, testing::Not(HasSubstr("dummy:HG stats:")));
}

}  // namespace
}  // namespace perftape::inspect
