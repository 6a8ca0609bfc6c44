// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convert/import/from_perfdata.h"
#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/bytes_input.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::convert {
namespace {

using perfdata::Container;
using perfdata::FeatureBit;
using perfdata::kContextUser;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ImportPerfData, CountsWhatWasLost) {
  PerfDataBuilder file = OneProcess();
  file.AddLost(5);
  file.AddLost(6);
  file.AddLostSamples(7);
  file.AddLostSamples(100, 0, perfdata::kMiscLostSamplesBpf);  // discarded on purpose
  const ImportReport report = Import(file).report;
  EXPECT_EQ(report.lost_records, 11U);
  EXPECT_EQ(report.lost_samples, 7U);
}

TEST(ImportPerfData, KeepsWhatCameBeforeADamagedTail) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1});
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 0x100});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1010 1"));
  EXPECT_EQ(imported.report.damaged_records, 1U);
  EXPECT_THAT(imported.report.problems, ElementsAre(HasSubstr("not a whole record")));
}

TEST(ImportPerfData, SkipsADamagedSample) {
  PerfDataBuilder file = OneProcess();
  const std::size_t offset = file.Open().data_offset() + file.records().size();
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 8});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1010 1"));
  EXPECT_EQ(imported.report.skipped_samples, 1U);
  EXPECT_EQ(imported.report.first_skipped, fmt::format("{:#x}", offset));
  EXPECT_EQ(imported.report.damaged_records, 1U);
}

TEST(ImportPerfData, AppliesProcessRecordsOfUnknownEvents) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {5}});
  file.AddEvent({.ids = {6}});
  file.Add(perfdata::Comm{7, 7, "worker"}, perfdata::SampleId{.id = 999});
  file.Add(perfdata::Lost{999, 3}, perfdata::SampleId{.id = 999});
  std::vector<std::byte> record;
  ASSERT_THAT(EncodeSample(perfdata::Sample{.id = 999, .ip = 0x10}, file.format(0), 2, record),
              IsOk());
  file.AddRaw(record);
  file.AddSample({.ip = 0x10, .pid = 7, .tid = 7});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;?10 1"));
  EXPECT_EQ(imported.report.skipped_samples, 1U);
  EXPECT_EQ(imported.report.unknown_events, 1U);
  EXPECT_EQ(imported.report.lost_records, 3U);
}

TEST(ImportPerfData, CountsRecordsOfUnknownTypes) {
  PerfDataBuilder file = OneProcess();
  file.AddHeaderOnly({.type = static_cast<perfdata::RecordType>(200)});
  EXPECT_EQ(Import(file).report.unknown_records, 1U);
}

TEST(ImportPerfData, ReadsRecordsThatCameLateInTheStateOfTheirOwnTime) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 30});
  file.AddRound();
  file.AddRound();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 10});
  file.AddComm({.pid = 7, .tid = 7, .comm = "renamed", .time = 20});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("renamed;app+1010 1", "worker;app+1010 1"));
  EXPECT_EQ(imported.report.late_records, 2U);
  EXPECT_THAT(imported.report.problems, IsEmpty());
}

TEST(ImportPerfData, ReportsLateCounters) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid |
                                perfdata::kTime | perfdata::kPeriod | perfdata::kRead,
                 .read_format = perfdata::kReadId});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 30});
  file.AddRound();
  file.AddRound();
  const std::size_t offset = file.Open().data_offset() + file.records().size();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 10});
  const Imported imported = Import(file);
  EXPECT_THAT(imported.report.problems,
              ElementsAre(HasSubstr(fmt::format("1 of the records came too late for their "
                                                "round, the first at {:#x}",
                                                offset))));
}

// Returns a recording that is long enough to be read in ranges, with changing names and mappings.
PerfDataBuilder LongRecording() {
  PerfDataBuilder file = OneProcess();
  std::vector<std::byte> samples;
  const std::vector<std::uint64_t> deep(1000, 0x400101);
  for (std::uint64_t i = 0; i < 1500; ++i) {
    const std::uint64_t time = 1000 + 10 * i;
    if (i % 50 == 0) file.AddComm({.pid = 7, .tid = 7, .comm = "c" + Hex(i), .time = time});
    if (i % 70 == 0) {
      file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/m" + Hex(i), .time = time});
    }
    file.AddSample({.ip = 0x400010 + i % 3, .pid = 7, .tid = 7, .time = time, .callchain = deep});
  }
  return file;
}

void ExpectTheSameWithSeveralThreads(Bytes file) {
  const Imported one = Import(file);
  for (const unsigned threads : {2U, 7U}) {
    const Imported several = Import(file, {.threads = threads});
    EXPECT_EQ(Lines(several.profile), Lines(one.profile));
    EXPECT_EQ(several.report.samples, one.report.samples);
    EXPECT_EQ(several.report.frames, one.report.frames);
    EXPECT_EQ(several.report.skipped_samples, one.report.skipped_samples);
    EXPECT_EQ(several.report.first_skipped, one.report.first_skipped);
    EXPECT_EQ(several.report.problems, one.report.problems);
    EXPECT_EQ(several.profile.metadata().duration_ns, one.profile.metadata().duration_ns);
  }
}

TEST(ImportPerfData, ReadsTheSameWithSeveralThreads) {
  const std::vector<std::byte> file = LongRecording().Build();
  ASSERT_GT(file.size(), std::size_t{8} << 20);
  EXPECT_EQ(Import(file, {.threads = 7}).report.samples, 1500U);
  ExpectTheSameWithSeveralThreads(file);
}

TEST(ImportPerfData, ReadsTheSameWithSeveralThreadsOfADamagedEnd) {
  PerfDataBuilder file = LongRecording();
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 4});
  const std::vector<std::byte> bytes = file.Build();
  EXPECT_EQ(Import(bytes, {.threads = 2}).report.problems.size(), 1U);
  ExpectTheSameWithSeveralThreads(bytes);
}

TEST(ImportPerfData, ReadsTheSameWithSeveralThreadsOfLateAndUnreadableSamples) {
  PerfDataBuilder file = LongRecording();
  file.AddRound();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 20000});
  file.AddRound();
  file.AddComm({.pid = 7, .tid = 7, .comm = "late", .time = 900});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 700});
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 8});
  ExpectTheSameWithSeveralThreads(file.Build());
}

TEST(ImportPerfData, ReadsTheSameFromAPipeAsFromAFile) {
  std::vector<std::vector<std::string>> lines;
  for (const Container container : {Container::kFile, Container::kPipe}) {
    PerfDataBuilder file = OneProcess(container);
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 2, .period = 5});
    file.AddRound();
    file.AddSample({.ip = 0x400020, .pid = 7, .tid = 7, .time = 1});
    file.AddRound();
    lines.push_back(Lines(file));
  }
  EXPECT_THAT(lines[0], ElementsAre("worker;app+1010 1 (5)", "worker;app+1020 1"));
  EXPECT_EQ(lines[0], lines[1]);
}

TEST(ImportPerfData, FailsOnlyWhereNothingCanBeRead) {
  ImportReport report;
  BytesInput other(AsBytes("no profile"));
  EXPECT_THAT(ReadPerfData(other, {}, report), FailsWith(ErrorCode::kCorrupt));
  BytesInput empty({});
  EXPECT_THAT(ReadPerfData(empty, {}, report), FailsWith(ErrorCode::kTruncated));
}

TEST(ImportPerfData, ReadsOrRefusesAFileWithAnyOneByteChanged) {
  PerfDataBuilder file = OneProcess();
  file.AddFeature(FeatureBit::kNrCpus, perfdata::NrCpus{1, 1});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x400010}});
  file.AddRound();
  std::vector<std::byte> bytes = file.Build();
  std::size_t read = 0;
  for (std::byte& byte : bytes) {
    const std::byte before = byte;
    for (const auto change : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      byte = before ^ change;
      ImportReport report;
      BytesInput input(bytes);
      const Result<Profile> profile = ReadPerfData(input, {}, report);
      if (!profile) continue;
      ++read;
      EXPECT_THAT(Validate(*profile), IsOk());
    }
    byte = before;
  }
  EXPECT_GT(read, bytes.size());  // most changes do not prevent reading
}

}  // namespace
}  // namespace perftape::convert
