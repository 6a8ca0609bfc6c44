// SPDX-License-Identifier: Apache-2.0
#include "convert/records/sample_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::records {
namespace {

using perfdata::CpuMode;
using perfdata::kContextKernel;
using perfdata::kContextUser;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

// Returns all rows without their events, which are views of the reader. Tests of events or damage
// use SampleRows itself.
std::vector<SampleRow> RowsOf(PerfDataBuilder& file) {
  const perfdata::Reader reader = file.Open();
  SampleRows rows(reader);
  std::vector<SampleRow> all;
  for (auto row = rows.Next(); row && *row; row = rows.Next()) all.push_back(**row);
  for (SampleRow& row : all) row.event = {};
  return all;
}

TEST(SampleRows, HaveDeferredUserFrames) {
  PerfDataBuilder file;
  file.AddEvent({.flags = perfdata::kSampleIdAll | perfdata::kDeferCallchain});
  file.AddSample({.tid = 7, .time = 10, .callchain = {perfdata::kContextUserDeferred, 0xc1}});
  file.AddSample({.tid = 7, .time = 11, .callchain = {perfdata::kContextUserDeferred, 0xc2}});
  const std::vector<std::uint64_t> user = {kContextUser, 0x401000, 0x402000};
  file.Add(perfdata::CallchainDeferred{.cookie = 0xc2, .callchain = WordArray(user)},
           {.tid = 7, .time = 12, .id = 101});
  const perfdata::Reader reader = file.Open();
  SampleRows rows(reader);
  EXPECT_THAT(rows.Next().value()->frames, IsEmpty());
  EXPECT_THAT(rows.Next().value()->frames, ElementsAre(0x401000, 0x402000));
  EXPECT_EQ(rows.without_user_frames(), 1U);
}

TEST(SampleRows, ContainTheFieldsOfTheSample) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.ip = 0x401136, .pid = 7, .tid = 8, .time = 99, .cpu = 3, .period = 12});
  const std::vector<SampleRow> rows = RowsOf(file);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].pid, 7U);
  EXPECT_EQ(rows[0].tid, 8U);
  EXPECT_EQ(rows[0].cpu, 3U);
  EXPECT_EQ(rows[0].time_ns, 99U);
  EXPECT_EQ(rows[0].period, 12U);
  EXPECT_EQ(rows[0].ip, 0x401136U);
}

TEST(SampleRows, NameTheThreadThatAWakeupWoke) {
  PerfDataBuilder file;
  file.AddEvent({.name = "wakeup",
                 .config = perfdata::kSoftwareBpfOutput,
                 .sample_type = perfdata::kIdentifier | perfdata::kTid | perfdata::kAddr});
  file.AddFeature(perfdata::FeatureBit::kEventDesc, file.Description());
  file.AddComm({.pid = 7, .tid = 9, .comm = "sleeper"});
  file.AddSample({.pid = 7, .tid = 8, .addr = 9});
  const std::vector<SampleRow> rows = RowsOf(file);
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_TRUE(rows[0].woken);
  EXPECT_EQ(rows[0].woken->tid, 9U);
  EXPECT_EQ(rows[0].woken->comm, "sleeper");
}

TEST(SampleRows, NameTheEvent) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddEvent({.config = perfdata::kSoftwareDummy});
  file.AddSample({.event = 1});
  const perfdata::Reader reader = file.Open();
  const auto row = SampleRows(reader).Next();
  ASSERT_TRUE(row && *row);
  EXPECT_EQ((*row)->event, "dummy:HG");
}

TEST(SampleRows, NameTheThreadAsItWasCalledThen) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "bash", .time = 1});
  file.AddSample({.pid = 7, .tid = 7, .time = 2});
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls", .time = 3});
  file.AddSample({.pid = 7, .tid = 7, .time = 4});
  file.AddSample({.pid = 9, .tid = 9, .time = 5});
  file.AddSample({.pid = 0, .tid = 0, .time = 6});
  std::vector<std::string> comms;
  for (const SampleRow& row : RowsOf(file)) comms.push_back(row.comm);
  EXPECT_THAT(comms, ElementsAre("bash", "ls", ":9", "swapper"));
}

TEST(SampleRows, ComeInTimeOrder) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.ip = 2, .time = 20, .cpu = 0});
  file.AddSample({.ip = 1, .time = 10, .cpu = 1});
  file.AddRound();
  std::vector<std::optional<std::uint64_t>> times;
  for (const SampleRow& row : RowsOf(file)) times.push_back(row.time_ns);
  EXPECT_THAT(times, ElementsAre(10, 20));
}

TEST(SampleRows, NameTheFileThatIsMappedAtTheIp) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/usr/bin/ls"});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x500000, .path = "//anon"});
  file.AddMmap(
      {.start = 0xffffffff81000000, .path = "[kernel.kallsyms]_text", .mode = CpuMode::kKernel});
  file.AddSample({.ip = 0x400123, .pid = 7, .tid = 7, .time = 1});
  file.AddSample({.ip = 0x500123, .pid = 7, .tid = 7, .time = 2});
  file.AddSample({.ip = 0x600123, .pid = 7, .tid = 7, .time = 3});
  file.AddSample(
      {.ip = 0xffffffff81000010, .pid = 7, .tid = 7, .time = 4, .mode = CpuMode::kKernel});
  std::vector<std::string> dsos;
  for (const SampleRow& row : RowsOf(file)) dsos.push_back(row.dso);
  EXPECT_THAT(dsos, ElementsAre("ls", "perf-7.map", "[unknown]", "[kernel.kallsyms]"));
}

TEST(SampleRows, LeaveContextMarkersOutOfTheFrames) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.time = 1, .callchain = {kContextKernel, 0xf1, 0xf2, kContextUser, 0x1}});
  file.AddSample({.time = 2, .callchain = {}});
  const std::vector<SampleRow> rows = RowsOf(file);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0].frames, ElementsAre(0xf1, 0xf2, 0x1));
  EXPECT_THAT(rows[1].frames, IsEmpty());
}

TEST(SampleRows, StopAChainWherePerfStopsIt) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.callchain = std::vector<std::uint64_t>(200, 0x1)});
  EXPECT_EQ(RowsOf(file).at(0).frames.size(), SampleRows::kMostFrames);
}

TEST(SampleRows, HaveNoCpuWhereNoneWasRecorded) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kTid | perfdata::kTime});
  file.AddSample({.ip = 1, .time = 1});
  EXPECT_EQ(RowsOf(file).at(0).cpu, std::nullopt);
}

TEST(SampleRows, HaveNoTimeWhereNoneWasRecorded) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kTid});
  file.AddSample({.ip = 1});
  EXPECT_EQ(RowsOf(file).at(0).time_ns, std::nullopt);
}

TEST(SampleRows, EndWithTheErrorOfADamagedRecordAfterAllRowsBeforeIt) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.ip = 1, .time = 1});
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 0xfff0});
  const perfdata::Reader reader = file.Open();
  SampleRows rows(reader);
  const auto first = rows.Next();
  ASSERT_TRUE(first && *first);
  EXPECT_THAT(rows.Next(), FailsWith(ErrorCode::kTruncated, testing::HasSubstr("record at 0x")));
}

TEST(SampleRows, CountSamplesThatCannotBeRead) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 8});
  file.AddSample({.ip = 1, .time = 1});
  const perfdata::Reader reader = file.Open();
  SampleRows rows(reader);
  while (true) {
    const auto row = rows.Next();
    ASSERT_TRUE(row);
    if (!*row) break;
  }
  EXPECT_EQ(rows.skipped(), 1U);
  EXPECT_EQ(rows.first_unread(), fmt::format("{:#x}", reader.data_offset()));
}

}  // namespace
}  // namespace perftape::records
