// SPDX-License-Identifier: Apache-2.0
// Samples whose values are not all where a sample usually has them: user frames in later records,
// off-CPU values in RAW, leaves in the ip, names of threads in later records.
#include "convert/import/sample_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::convert {
namespace {

using perfdata::CpuMode;
using perfdata::kContextKernel;
using perfdata::kContextUser;
using perfdata::kContextUserDeferred;
using perfdata::kSampleIdAll;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;

constexpr std::uint64_t kKernelFrame = 0xffffffff81000010;

// A recording of a process with /bin/app at 0x400000, whose only event has these attributes.
PerfDataBuilder OneProcessWith(const perfdata::EventOptions& event) {
  PerfDataBuilder file;
  file.AddEvent(event);
  file.AddFeature(perfdata::FeatureBit::kEventDesc, file.Description());
  file.AddMmap({.pid = ~0U,
                .start = 0xffffffff81000000,
                .length = 0x1000000,
                .page_offset = 0xffffffff81000000,
                .path = "[kernel.kallsyms]_text",
                .mode = CpuMode::kKernel});
  file.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .length = 0x10000, .path = "/bin/app"});
  return file;
}

PerfDataBuilder DeferredRecording() {
  return OneProcessWith({.flags = kSampleIdAll | perfdata::kDeferCallchain});
}

void AddUserFrames(PerfDataBuilder& file, std::uint64_t time, std::uint64_t cookie) {
  const std::vector<std::uint64_t> frames = {kContextUser, 0x400010, 0x400101};
  file.Add(perfdata::CallchainDeferred{.cookie = cookie, .callchain = WordArray(frames)},
           {.pid = 7, .tid = 7, .time = time, .id = 101});
}

TEST(ImportPerfData, HasDeferredUserFrames) {
  PerfDataBuilder file = DeferredRecording();
  file.AddSample({.ip = kKernelFrame,
                  .pid = 7,
                  .tid = 7,
                  .time = 10,
                  .callchain = {kContextKernel, kKernelFrame, kContextUserDeferred, 0xc1},
                  .mode = CpuMode::kKernel});
  AddUserFrames(file, 11, 0xc1);
  file.AddSample(
      {.ip = 0x400010, .pid = 7, .tid = 7, .time = 12, .callchain = {kContextUserDeferred, 0xc2}});
  AddUserFrames(file, 13, 0xc2);
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile),
              ElementsAre("worker;app+100;app+10 1",
                          "worker;app+100;app+10;[kernel.kallsyms]+ffffffff81000010 1"));
  EXPECT_EQ(imported.report.without_user_frames, 0U);
}

TEST(ImportPerfData, CountsSamplesThatNeverGotTheirUserFrames) {
  PerfDataBuilder file = DeferredRecording();
  for (const std::uint64_t cookie : {0xc1U, 0xc2U}) {
    file.AddSample({.ip = 0x400020,
                    .pid = 7,
                    .tid = 7,
                    .time = 10,
                    .callchain = {kContextUserDeferred, cookie}});
  }
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+20 2"));  // one stack
  EXPECT_EQ(imported.report.without_user_frames, 2U);
  EXPECT_EQ(imported.report.damaged_records, 0U);
}

TEST(ImportPerfData, HasTheSleeperOfAnOffCpuSampleWithRaw) {
  PerfDataBuilder file =
      OneProcessWith({.name = "offcpu-time",
                      .config = perfdata::kSoftwareBpfOutput,
                      .sample_type = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid |
                                     perfdata::kTime | perfdata::kPeriod | perfdata::kRaw});
  std::vector<std::byte> raw;
  ByteWriter at(raw);
  for (const std::uint64_t word :
       {std::uint64_t{7} << 32 | 7, std::uint64_t{600}, std::uint64_t{3}, kContextUser,
        std::uint64_t{0x400010}, std::uint64_t{0x400101}, std::uint64_t{0}}) {
    at.Fixed(word);
  }
  at.Padding(4);
  file.AddSample({.time = 50, .raw = raw});
  file.AddSample({.time = ~std::uint64_t{0} << 32, .raw = raw});  // a sum, without a time
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+100;app+10 2 (1200)"));
  EXPECT_EQ(imported.profile.metadata().duration_ns, 0);
}

// PEBS and IBS: the callchain begins where the kernel was interrupted, some instructions later.
TEST(ImportPerfData, HasTheIpOfAPreciseSampleAsLeaf) {
  const auto lines = [](std::uint64_t flags) {
    PerfDataBuilder file = OneProcessWith({.flags = kSampleIdAll | flags});
    file.AddSample(
        {.ip = 0x400040, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x400010, 0x400101}});
    file.AddSample(
        {.ip = 0x400010, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x400010, 0x400101}});
    file.AddSample({.ip = 0x400050,
                    .pid = 7,
                    .tid = 7,
                    .callchain = {kContextKernel, kKernelFrame, kContextUser, 0x400101}});
    return Lines(file);
  };
  EXPECT_THAT(
      lines(std::uint64_t{2} << perfdata::kPreciseIpShift),
      ElementsAre("worker;app+100;app+10 1", "worker;app+100;app+40 1", "worker;app+101;app+50 1"));
  EXPECT_THAT(lines(0), ElementsAre("worker;app+100;app+10 2",
                                    "worker;app+101;[kernel.kallsyms]+ffffffff81000010 1"));
}

TEST(ImportPerfData, NamesAThreadAsItsLaterRecordDoes) {
  PerfDataBuilder file = OneProcessWith({});
  file.AddSample({.pid = 9, .tid = 9, .time = 10});
  file.AddComm({.pid = 9, .tid = 9, .comm = "late", .time = 20});
  file.AddSample({.pid = 9, .tid = 9, .time = 30});
  file.AddSample({.pid = 10, .tid = 10, .time = 30});
  EXPECT_THAT(Lines(file), ElementsAre(":10;?0 1", "late;?0 2"));
}

TEST(ImportPerfData, NamesNoThreadAsALaterOneWithItsNumber) {
  PerfDataBuilder ended = OneProcessWith({});
  ended.AddSample({.pid = 9, .tid = 9, .time = 10});
  ended.AddExit({.pid = 9, .ppid = 1, .tid = 9, .ptid = 1, .time = 15});
  ended.AddComm({.pid = 9, .tid = 9, .comm = "other", .time = 20});
  ended.AddSample({.pid = 9, .tid = 9, .time = 30});
  EXPECT_THAT(Lines(ended), ElementsAre(":9;?0 1", "other;?0 1"));

  PerfDataBuilder forked = OneProcessWith({});
  forked.AddSample({.pid = 9, .tid = 9, .time = 10});
  forked.AddFork({.pid = 9, .ppid = 7, .tid = 9, .ptid = 7, .time = 15});
  forked.AddSample({.pid = 9, .tid = 9, .time = 30});
  EXPECT_THAT(Lines(forked), ElementsAre(":9;?0 1", "worker;?0 1"));
}

}  // namespace
}  // namespace perftape::convert
