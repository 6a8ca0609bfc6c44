// SPDX-License-Identifier: Apache-2.0
// The labels of samples that woke a thread (perftape-record --wakers).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert/export/to_perfdata.h"
#include "convert/export/to_pprof.h"
#include "convert/import/from_pprof.h"
#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using perfdata::PerfDataBuilder;
using testing::ElementsAre;

constexpr std::uint64_t kFields =
    perfdata::kIdentifier | perfdata::kIp | perfdata::kTid | perfdata::kTime | perfdata::kPeriod;

// A recording with a wakeup event, and off-CPU time.
PerfDataBuilder WakeupsAndWaits() {
  PerfDataBuilder file;
  file.AddEvent({.name = "wakeup",
                 .config = perfdata::kSoftwareBpfOutput,
                 .sample_type = kFields | perfdata::kAddr});
  file.AddEvent(
      {.name = "offcpu-time", .config = perfdata::kSoftwareBpfOutput, .sample_type = kFields});
  file.AddFeature(perfdata::FeatureBit::kEventDesc, file.Description());
  file.AddComm({.pid = 7, .tid = 7, .comm = "waker"});
  return file;
}

// Returns "waker -> worker 8: 2 samples" for each sample, sorted. "-" without labels.
std::vector<std::string> WokenIn(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    const SampleThread woken = WokenThreadOf(profile, sample);
    std::string line(ThreadOf(profile, sample).comm);
    line += woken.tid ? " -> " + std::string(woken.comm) + " " + std::to_string(*woken.tid) : " -";
    lines.push_back(line + ": " + std::to_string(sample.count));
  }
  std::ranges::sort(lines);
  return lines;
}

TEST(WokenLabels, HaveTheNameOfTheThreadAtTheTime) {
  PerfDataBuilder file = WakeupsAndWaits();
  file.AddComm({.pid = 7, .tid = 8, .comm = "app", .time = 5});
  file.AddSample({.pid = 7, .tid = 7, .time = 10, .addr = 8});
  file.AddComm({.pid = 7, .tid = 8, .comm = "worker", .time = 15});
  file.AddSample({.pid = 7, .tid = 7, .time = 20, .addr = 8});
  file.AddSample({.pid = 7, .tid = 7, .time = 30, .addr = 8});
  EXPECT_THAT(WokenIn(Import(file).profile),
              ElementsAre("waker -> app 8: 1", "waker -> worker 8: 2"));
}

TEST(WokenLabels, AreThereForAnUnnamedThreadAndWithOtherLabels) {
  PerfDataBuilder file = WakeupsAndWaits();
  file.AddSample({.pid = 7, .tid = 7, .time = 10, .addr = 9});
  const ImportOptions options{.time_label = true};
  EXPECT_THAT(WokenIn(Import(file, options).profile), ElementsAre("waker -> :9 9: 1"));
}

TEST(WokenLabels, AreOnlyInSamplesOfWakeups) {
  PerfDataBuilder file = WakeupsAndWaits();
  file.AddEvent({.name = "faults", .config = 2, .sample_type = kFields | perfdata::kAddr});
  file.AddFeature(perfdata::FeatureBit::kEventDesc, file.Description());
  file.AddSample({.pid = 7, .tid = 7, .time = 10, .addr = 0});
  file.AddSample({.pid = 7, .tid = 7, .time = 20, .event = 1});
  file.AddSample({.pid = 7, .tid = 7, .time = 30, .event = 2, .addr = 8});
  EXPECT_THAT(WokenIn(Import(file).profile), ElementsAre("waker -: 1", "waker -: 1", "waker -: 1"));
}

class WokenProfile : public testing::Test {
 protected:
  Profile Made() {
    Wake("worker-1", 8, 3);
    Wake("worker-2", 9, 1);
    // The waker of one sample is the woken thread of another one.
    Wake("waker", 7, 2, made_.Runs("worker-1", 7, 8));
    Wake("reused", 8, 1);
    made_.Hit(made_.Calls({"main"}), waker_, made_.Counts("offcpu-time", "nanoseconds"), 1, 5);
    return made_.Make();
  }

  void Wake(std::string_view comm, std::int64_t tid, std::int64_t count) {
    Wake(comm, tid, count, waker_);
  }
  void Wake(std::string_view comm, std::int64_t tid, std::int64_t count, ThreadId waker) {
    auto& builder = made_.builder;
    const StringId key = builder.Add(kWokenTidLabel);
    const Label labels[] = {{.key = key, .number = tid, .unit = key},
                            {.key = builder.Add(kWokenLabel), .text = builder.Add(comm)}};
    builder.Add(Sample{.stack = made_.Calls({"main"}),
                       .thread = waker,
                       .event = made_.Counts("wakeup", "nanoseconds"),
                       .labels = builder.Add(labels),
                       .count = count,
                       .period = 100 * count});
  }

  ProfileMaker made_;
  ThreadId waker_ = made_.Runs("waker", 7, 7);
  const std::vector<std::string> lines_ = {"waker -: 1", "waker -> reused 8: 1",
                                           "waker -> worker-1 8: 3", "waker -> worker-2 9: 1",
                                           "worker-1 -> waker 7: 2"};
};

TEST_F(WokenProfile, IsTheSameAfterPprof) {
  const auto encoded = EncodePprof(Made(), {});
  ASSERT_THAT(encoded, IsOk());
  BytesInput input(*encoded);
  ImportReport report;
  const auto back = ReadPprof(input, {}, report);
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(WokenIn(*back), lines_);
}

TEST_F(WokenProfile, IsTheSameAfterPerfData) {
  const TempDir directory;
  const auto written = WritePerfData(Made(), {}, directory / "there.data");
  ASSERT_THAT(written, IsOk());
  EXPECT_THAT(written->lost_labels, testing::IsEmpty());
  Input input = Input::Open(directory / "there.data").value();
  ImportReport report;
  const auto back = ReadPerfData(input, {}, report);
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(WokenIn(*back), lines_);
}

}  // namespace
}  // namespace perftape::convert
