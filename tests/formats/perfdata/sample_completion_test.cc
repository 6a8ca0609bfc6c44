// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/sample_completion.h"

#include <gmock/gmock.h>

#include <tuple>

#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using enum SampleCompletion::Outcome;

constexpr std::uint64_t kKernelFrame = 0xffffffff81000000;
constexpr std::uint64_t kSampleType = kIdentifier | kIp | kTid | kTime | kPeriod | kCallchain;

PerfDataBuilder DeferredRecording() {
  PerfDataBuilder file;
  file.AddEvent(
      {.sample_type = kSampleType, .flags = kSampleIdAll | kDeferCallchain | kDeferOutput});
  return file;
}

void AddDeferred(PerfDataBuilder& file, std::uint32_t tid, std::uint64_t time,
                 std::uint64_t cookie) {
  file.AddSample({.tid = tid,
                  .time = time,
                  .callchain = {kContextKernel, kKernelFrame, kContextUserDeferred, cookie},
                  .mode = CpuMode::kKernel});
}

void AddUserFrames(PerfDataBuilder& file, std::uint32_t tid, std::uint64_t time,
                   std::uint64_t cookie, const std::vector<std::uint64_t>& frames) {
  file.Add(CallchainDeferred{.cookie = cookie, .callchain = WordArray(frames)},
           {.tid = tid, .time = time, .id = 101});
}

struct Completed {
  Sample sample;
  CpuMode mode = CpuMode::kUnknown;
  SampleCompletion::Outcome outcome = kWhole;
  std::vector<std::uint64_t> callchain = {};
};

std::vector<Completed> CompletedOf(PerfDataBuilder& file) {
  const Reader reader = file.Open();
  const SampleCompletion completion(reader);
  std::vector<Completed> all;
  std::vector<std::byte> chain;
  for (RecordCursor cursor = reader.records(); cursor.Step();) {
    if (cursor.record().type != RecordType::kSample) continue;
    RecordView record = cursor.record();
    const Event& event = *reader.events().EventOf(record);
    Completed completed{.sample = *DecodeSample(record, event.format)};
    completed.outcome = completion.Complete(record, event, completed.sample, chain);
    completed.mode = record.cpumode();
    completed.callchain.assign(completed.sample.callchain.begin(),
                               completed.sample.callchain.end());
    all.push_back(std::move(completed));
    all.back().sample.callchain = WordArray(all.back().callchain);
  }
  return all;
}

TEST(SampleCompletion, AddsTheUserFramesOfTheThreadWithTheCookie) {
  PerfDataBuilder file = DeferredRecording();
  AddDeferred(file, 7, 10, 0xc1);
  AddDeferred(file, 8, 11, 0xc1);
  AddDeferred(file, 7, 12, 0xc1);
  AddUserFrames(file, 7, 13, 0xc1, {kContextUser, 0x71, 0x72});
  AddUserFrames(file, 8, 14, 0xc1, {0x81});  // without a marker
  const std::vector<Completed> samples = CompletedOf(file);
  ASSERT_EQ(samples.size(), 3U);
  const auto of_7 = ElementsAre(kContextKernel, kKernelFrame, kContextUser, 0x71, 0x72);
  EXPECT_THAT(samples[0].callchain, of_7);
  EXPECT_THAT(samples[1].callchain, ElementsAre(kContextKernel, kKernelFrame, kContextUser, 0x81));
  EXPECT_THAT(samples[2].callchain, of_7);
}

// The thread may return to user mode on another CPU, whose ring is written first.
TEST(SampleCompletion, FollowsTheTimeNotTheOrderOfTheFile) {
  PerfDataBuilder file = DeferredRecording();
  AddUserFrames(file, 7, 13, 0xc1, {kContextUser, 0x71});
  AddDeferred(file, 7, 10, 0xc1);
  file.AddRound();
  EXPECT_THAT(CompletedOf(file)[0].callchain,
              ElementsAre(kContextKernel, kKernelFrame, kContextUser, 0x71));
}

TEST(SampleCompletion, RemovesTheCookieOfASampleWithoutUserFrames) {
  PerfDataBuilder file = DeferredRecording();
  AddDeferred(file, 7, 10, 0xc1);  // its record is lost
  AddUserFrames(file, 7, 11, 0xc2, {kContextUser, 0x71});
  AddUserFrames(file, 7, 12, 0xc1, {kContextUser, 0x72});  // of another entry into the kernel
  AddDeferred(file, 8, 13, 0xc3);                          // its thread ends
  for (const Completed& sample : CompletedOf(file)) {
    EXPECT_EQ(sample.outcome, kWithoutUserFrames);
    EXPECT_THAT(sample.callchain, ElementsAre(kContextKernel, kKernelFrame));
  }
}

TEST(SampleCompletion, CutsUserFramesThatNoRecordCanHold) {
  PerfDataBuilder file = DeferredRecording();
  std::vector<std::uint64_t> kernel(4000, kKernelFrame);
  kernel.push_back(kContextUserDeferred);
  kernel.push_back(0xc1);
  file.AddSample({.tid = 7, .time = 10, .callchain = kernel});
  AddUserFrames(file, 7, 11, 0xc1, std::vector<std::uint64_t>(8000, 0x71));
  const std::vector<Completed> samples = CompletedOf(file);
  std::vector<std::byte> bytes;
  EXPECT_TRUE(EncodeSample(samples[0].sample, file.format(0), 0, bytes));
}

std::vector<std::byte> OffCpuRawBytes(std::vector<std::uint64_t> frames, std::uint32_t tid,
                                      std::uint64_t off_cpu_ns) {
  std::vector<std::byte> raw;
  ByteWriter at(raw);
  at.Fixed(std::uint32_t{200});
  at.Fixed(tid);
  at.Fixed(off_cpu_ns);
  at.Fixed(std::uint64_t{frames.size()});
  at.Words(WordArray(frames), frames.size());
  at.Fixed(std::uint64_t{44});  // cgroup
  at.Padding(4);
  return raw;
}

PerfDataBuilder OffCpuRecording(std::string_view name = "offcpu-time") {
  PerfDataBuilder file;
  file.AddEvent({.name = name,
                 .config = kSoftwareBpfOutput,
                 .sample_type = kIdentifier | kIp | kTid | kTime | kPeriod | kRaw | kSampleCgroup});
  file.AddFeature(FeatureBit::kEventDesc, file.Description());
  return file;
}

TEST(SampleCompletion, ReadsTheRawPartOfOffCpuSamples) {
  PerfDataBuilder file = OffCpuRecording();
  file.AddSample({.ip = kKernelFrame,
                  .pid = 1,
                  .tid = 1,
                  .time = 50,
                  .mode = CpuMode::kKernel,
                  .raw = OffCpuRawBytes({kContextUser, 0x71, 0x72}, 201, 600)});
  const std::vector<Completed> samples = CompletedOf(file);
  ASSERT_EQ(samples.size(), 1U);
  const Sample& sample = samples[0].sample;
  EXPECT_EQ(
      std::tuple(sample.pid, sample.tid, sample.time, sample.period, sample.ip, sample.cgroup),
      std::tuple(200U, 201U, 50U, 600U, 0x71U, 44U));
  EXPECT_EQ(samples[0].mode, CpuMode::kUser);
}

TEST(SampleCompletion, GivesSumsOfOffCpuTimeTheEndOfTheRecording) {
  PerfDataBuilder file = OffCpuRecording();
  file.AddComm({.pid = 200, .tid = 200, .comm = "waiter", .time = 70});
  const auto raw = OffCpuRawBytes({kContextUser, 0x71}, 200, 25);
  file.AddSample({.time = kFirstOffCpuSumTime + 1, .raw = raw});
  file.AddSample({.time = kFirstOffCpuSumTime, .raw = raw});
  for (const Completed& sample : CompletedOf(file)) EXPECT_EQ(sample.sample.time, 70U);
}

TEST(SampleCompletion, LeavesOtherEventsAndShortRawPartsAlone) {
  PerfDataBuilder other = OffCpuRecording("my-output");
  EXPECT_FALSE(SampleCompletion::IsNeeded(other.Open().events()));
  EXPECT_TRUE(SampleCompletion::MayBeNeeded(other.Open().events()));

  const auto whole = OffCpuRawBytes({kContextUser, 0x71}, 201, 600);
  for (std::size_t size = 4; size + 4 < whole.size(); size += 8) {
    PerfDataBuilder file = OffCpuRecording();
    const Bytes cut = Bytes(whole).first(size);
    file.AddSample({.pid = 1, .tid = 2, .time = 9, .raw = {cut.begin(), cut.end()}});
    EXPECT_EQ(CompletedOf(file)[0].sample.tid, 2U) << size;
  }
}

TEST(SampleCompletion, NeedsNoReadingOfOlderFiles) {
  PerfDataBuilder file;
  file.AddEvent();
  EXPECT_FALSE(SampleCompletion::MayBeNeeded(file.Open().events()));
}

}  // namespace
}  // namespace perftape::perfdata
