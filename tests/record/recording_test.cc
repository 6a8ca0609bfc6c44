// SPDX-License-Identifier: Apache-2.0
// The course of a recording into one file, with made records.
#include "record/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "tests/record/made_recording.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OneFileRecording : public testing::Test {
 protected:
  FileContent File() const { return ReadBack(dir_ / "p.data"); }

  TempDir dir_;
  MadeRecording made_{dir_ / "p.data"};
};

TEST_F(OneFileRecording, HasEachSampleOnceInOrderOfTime) {
  made_.AddSamples(0.1, 2.9);
  const RecordSummary summary = made_.Run(3);
  const FileContent file = File();
  EXPECT_EQ(file.sample_times.size(), 280);
  EXPECT_EQ(summary.output.counts.samples, 280);
  EXPECT_EQ(summary.output.counts.samples_by_event[0], 280);
  EXPECT_EQ(std::ranges::adjacent_find(file.sample_times, std::greater_equal()),
            file.sample_times.end());
  EXPECT_EQ(summary.output.failure, "");
  EXPECT_EQ(summary.output.file, dir_ / "p.data");
  EXPECT_TRUE(file.has_build_ids);
  EXPECT_EQ(file.notes->samples, 280);
}

// A ring that was drained early in the round has a sample that is younger than one that was not.
TEST_F(OneFileRecording, HoldsBackWhatIsYoungerThanTheDrain) {
  for (int i = 0; i < 100; ++i) {
    const double at = 0.2 + 0.0207 * i;  // at each distance to a drain
    made_.input().AddSample(MadeRecording::At(at), 7, 0, MadeRecording::At(at - 0.01));
    made_.input().AddSample(MadeRecording::At(at - 0.005), 7);
  }
  made_.Run(3);
  const FileContent file = File();
  EXPECT_EQ(file.sample_times.size(), 200);
  EXPECT_TRUE(std::ranges::is_sorted(file.sample_times));
}

TEST_F(OneFileRecording, EndsARoundInEachInterval) {
  made_.AddSamples(0.1, 9.9);
  made_.options.flush_interval = std::chrono::milliseconds(500);
  made_.Run(10);
  // Each interval is a pause of 10 ms and the flush interval, unless the recording is over.
  EXPECT_THAT(File().rounds, testing::AllOf(testing::Ge(19), testing::Le(22)));
}

TEST_F(OneFileRecording, ReportsTheLossesOfRingsOnce) {
  made_.AddSamples(0.1, 2.9);
  made_.input().LoseInRing(MadeRecording::At(1), 0, 3);
  made_.input().LoseInRing(MadeRecording::At(2), 0, 5);
  made_.input().LoseInRing(MadeRecording::At(2), 1, 4);
  const RecordSummary summary = made_.Run(3);
  EXPECT_EQ(summary.lost_samples(), 9);
  EXPECT_THAT(summary.losses.events[0].losses, ElementsAre(LossByCpu{.cpu = 0, .ring_full = 5},
                                                           LossByCpu{.cpu = 1, .ring_full = 4}));
  const FileContent file = File();
  EXPECT_EQ(file.lost_samples, 9);
  EXPECT_THAT(file.notes->lost, ElementsAre(bundle::NotedLoss{"cpu-clock", 0, "ring_full", 5},
                                            bundle::NotedLoss{"cpu-clock", 1, "ring_full", 4}));
}

TEST_F(OneFileRecording, CountsTheProcessEventsThatARingLost) {
  made_.input().Add(MadeRecording::At(1), perfdata::Lost{.event_id = 101, .count = 6});
  const RecordSummary summary = made_.Run(2);
  EXPECT_EQ(summary.lost_process_events(), 6);
  EXPECT_THAT(summary.output.counts.sideband_losses, ElementsAre(testing::Pair(0, 6)));
  EXPECT_EQ(File().lost_process_events, 6);
}

TEST_F(OneFileRecording, EndsWithItsTargets) {
  made_.AddSamples(0.1, 2.9);
  made_.clock.At(MadeRecording::At(1), [&] { made_.input().have_targets_ended = true; });
  EXPECT_LT(made_.Run(3).output.counts.samples, 120);
}

TEST_F(OneFileRecording, DropsProcessEventsOfOthers) {
  made_.input().targets = {7};
  made_.input().Add(MadeRecording::At(1), perfdata::Comm{.pid = 7, .tid = 7, .comm = "mine"});
  made_.input().Add(MadeRecording::At(1), perfdata::Comm{.pid = 8, .tid = 8, .comm = "other"});
  made_.Run(2);
  EXPECT_THAT(File().comms, ElementsAre("mine"));
}

TEST_F(OneFileRecording, JoinsEqualSamplesOfAnInterval) {
  made_.AddSamples(0.1, 2.9);
  made_.options.output.aggregate = std::chrono::milliseconds(700);
  const RecordSummary summary = made_.Run(3);
  const FileContent file = File();
  EXPECT_LT(file.sample_times.size(), 10);
  EXPECT_EQ(std::accumulate(file.periods.begin(), file.periods.end(), std::uint64_t{0}), 2800);
  EXPECT_EQ(summary.output.counts.aggregated + file.sample_times.size(), 280);
  EXPECT_EQ(file.notes->aggregated, summary.output.counts.aggregated);
}

TEST_F(OneFileRecording, LowersTheRateWhileItUsesTooMuchCpu) {
  made_.options.max_cpu = 10;
  for (int second = 0; second < 5; ++second) {
    made_.clock.At(MadeRecording::At(second), [&] { made_.clock.cpu_ns += kNsPerSecond / 2; });
  }
  const RecordSummary summary = made_.Run(5);
  ASSERT_THAT(made_.input().divisors, testing::Not(IsEmpty()));
  EXPECT_GT(summary.rates.back().divisor, 1);
}

TEST_F(OneFileRecording, OfWhichTheDiskHasNoRoomCountsWhatItLacks) {
  made_.AddSamples(0.1, 4.9);
  made_.clock.At(MadeRecording::At(2), [&] {
    made_.input().LoseInRing(MadeRecording::At(2.001), 0, 3);
    made_.options.output.reserved_space = std::uint64_t{1} << 62;
  });
  const RecordSummary summary = made_.Run(5);
  EXPECT_THAT(summary.output.failure, HasSubstr("--reserve-space"));
  const FileContent file = File();
  EXPECT_EQ(file.sample_times.size(), summary.output.counts.samples);
  EXPECT_GT(summary.output.counts.unwritten_samples, 0);
  EXPECT_EQ(summary.lost_samples(), summary.output.counts.unwritten_samples + 3);
  EXPECT_EQ(file.lost_samples, summary.lost_samples());
  EXPECT_TRUE(file.has_build_ids);
  EXPECT_EQ(file.notes->samples, summary.output.counts.samples);
}

TEST_F(OneFileRecording, ThatWasDeletedHasNoSamples) {
  made_.AddSamples(0.1, 2.9);
  made_.clock.At(MadeRecording::At(2), [&] { std::filesystem::remove(dir_ / "p.data"); });
  const RecordSummary summary = made_.Run(3);
  EXPECT_THAT(summary.output.failure, HasSubstr("was deleted"));
  EXPECT_EQ(summary.output.counts.samples, 0);
  EXPECT_EQ(summary.lost_samples(), 280);
}

TEST_F(OneFileRecording, ThatWasRenamedIsFound) {
  made_.AddSamples(0.1, 2.9);
  made_.clock.At(MadeRecording::At(2),
                 [&] { std::filesystem::rename(dir_ / "p.data", dir_ / "q.data"); });
  const RecordSummary summary = made_.Run(3);
  EXPECT_EQ(summary.output.file.filename(), "q.data");
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("was renamed")));
  EXPECT_EQ(ReadBack(dir_ / "q.data").sample_times.size(), 280);
}

TEST_F(OneFileRecording, LeavesTheOldFileIfItCannotBegin) {
  dir_.Write("p.data", "an older recording");
  made_.options.output.compression_level = 99;
  EXPECT_THROW(made_.Run(1), std::runtime_error);
  std::ifstream old(dir_ / "p.data");
  std::string text;
  std::getline(old, text);
  EXPECT_EQ(text, "an older recording");
}

TEST_F(OneFileRecording, ReportsProgress) {
  made_.AddSamples(0.1, 2.9);
  std::vector<std::uint64_t> samples;
  made_.options.on_progress = [&](const RecordProgress& made) { samples.push_back(made.samples); };
  made_.Run(3);
  EXPECT_TRUE(std::ranges::is_sorted(samples));
  EXPECT_THAT(samples.back(), testing::Gt(240));
}

TEST_F(OneFileRecording, EndsAtTheSizeOfItsFile) {
  made_.AddSamples(0.1, 2.9);
  made_.options.max_file_bytes = 4096;
  const RecordSummary summary = made_.Run(3);
  EXPECT_THAT(summary.output.counts.samples, testing::AllOf(testing::Gt(0), testing::Lt(200)));
  EXPECT_THAT(summary.warnings, testing::Contains(HasSubstr("--max-size")));
}

TEST_F(OneFileRecording, HasNoBuildIdsIfTheyAreNotRead) {
  made_.AddSamples(0.1, 2.9);
  made_.options.output.build_ids = false;
  made_.Run(3);
  const FileContent file = File();
  EXPECT_EQ(file.sample_times.size(), 280);
  EXPECT_FALSE(file.has_build_ids);
}

TEST_F(OneFileRecording, CompressesItsRecords) {
  made_.AddSamples(0.1, 2.9);
  made_.options.output.compression_level = 3;
  const RecordSummary summary = made_.Run(3);
  EXPECT_GT(summary.output.compression->original, summary.output.compression->compressed);
  EXPECT_EQ(File().sample_times.size(), 280);
}

}  // namespace
}  // namespace perftape::record
