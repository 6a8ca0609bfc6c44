// SPDX-License-Identifier: Apache-2.0
#include "record/output/rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/record/made_recording.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RotatingRecording : public testing::Test {
 protected:
  RotatingRecording() {
    std::filesystem::create_directory(dir_ / "out");
    made_.options.rotation.emplace();
  }
  // All files, the oldest first.
  std::vector<FileContent> Files() const { return ReadAllIn(dir_ / "out"); }
  static std::vector<std::uint64_t> TimesOf(const std::vector<FileContent>& files) {
    std::vector<std::uint64_t> times;
    for (const FileContent& file : files) {
      times.insert(times.end(), file.sample_times.begin(), file.sample_times.end());
    }
    return times;
  }

  TempDir dir_;
  MadeRecording made_{dir_ / "out/p.%n"};
};

TEST_F(RotatingRecording, HasEachSampleInOneFile) {
  made_.AddSamples(0.1, 4.9);
  made_.options.rotation->switch_interval = std::chrono::seconds(1);
  const RecordSummary summary = made_.Run(5);
  const std::vector<FileContent> files = Files();
  EXPECT_EQ(files.size(), 5);
  EXPECT_EQ(summary.output.rotation->files, 5);
  const std::vector<std::uint64_t> times = TimesOf(files);
  EXPECT_EQ(times.size(), 480);
  EXPECT_EQ(summary.output.counts.samples, 480);
  EXPECT_EQ(std::ranges::adjacent_find(times, std::greater_equal()), times.end());
  std::uint64_t noted = 0;
  for (const FileContent& file : files) {
    EXPECT_TRUE(file.has_build_ids);
    EXPECT_EQ(file.notes->samples, file.sample_times.size());
    noted += file.notes->samples;
  }
  EXPECT_EQ(noted, 480);
}

TEST_F(RotatingRecording, BeginsEachFileWithTheStateOfTheSeam) {
  made_.input().Add(MadeRecording::At(0.5), perfdata::Comm{.pid = 7, .tid = 7, .comm = "first"});
  made_.input().Add(MadeRecording::At(1.5), perfdata::Comm{.pid = 7, .tid = 7, .comm = "second"});
  made_.options.rotation->switch_interval = std::chrono::seconds(1);
  made_.Run(3);
  const std::vector<FileContent> files = Files();
  ASSERT_EQ(files.size(), 3);
  EXPECT_THAT(files[0].comms, ElementsAre("first"));
  EXPECT_THAT(files[1].comms, ElementsAre("first", "second"));
  EXPECT_THAT(files[2].comms, ElementsAre("second"));
}

TEST_F(RotatingRecording, ForgetsWhatEndedLongBeforeTheSeam) {
  made_.input().Add(MadeRecording::At(0.5), perfdata::Comm{.pid = 7, .tid = 7, .comm = "ends"});
  made_.input().Add(MadeRecording::At(0.6), perfdata::Comm{.pid = 8, .tid = 8, .comm = "stays"});
  made_.input().Add(
      MadeRecording::At(0.7),
      perfdata::Exit{{.pid = 7, .ppid = 1, .tid = 7, .ptid = 1, .time = MadeRecording::At(0.7)}});
  const std::uint64_t later_ns = MadeRecording::At(2.5);
  made_.input().Add(MadeRecording::At(2), perfdata::Comm{.pid = 9, .tid = 9, .comm = "later"});
  made_.input().Add(later_ns,
                    perfdata::Exit{{.pid = 9, .ppid = 1, .tid = 9, .ptid = 1, .time = later_ns}});
  made_.options.rotation->switch_interval = std::chrono::seconds(3);
  made_.Run(4);
  const std::vector<FileContent> files = Files();
  ASSERT_EQ(files.size(), 2);
  EXPECT_THAT(files[1].comms, Contains("stays"));
  EXPECT_THAT(files[1].comms, Not(Contains("ends")));
}

TEST_F(RotatingRecording, SwitchesAtASize) {
  made_.AddSamples(0.1, 4.9);
  made_.options.rotation->switch_bytes = 10'000;
  made_.Run(5);
  const std::vector<FileContent> files = Files();
  EXPECT_GT(files.size(), 2);
  EXPECT_EQ(TimesOf(files).size(), 480);
}

TEST_F(RotatingRecording, ReportsEachLossInOneFile) {
  made_.AddSamples(0.1, 4.9);
  made_.input().LoseInRing(MadeRecording::At(1.2), 0, 3);
  made_.input().LoseInRing(MadeRecording::At(3.7), 0, 5);
  made_.options.rotation->switch_interval = std::chrono::seconds(1);
  EXPECT_EQ(made_.Run(5).lost_samples(), 5);
  std::vector<std::uint64_t> lost, noted;
  for (const FileContent& file : Files()) {
    lost.push_back(file.lost_samples);
    noted.push_back(file.notes->lost.empty() ? 0 : file.notes->lost[0].count);
  }
  EXPECT_THAT(lost, ElementsAre(0, 3, 0, 2, 0));
  EXPECT_THAT(noted, ElementsAre(0, 3, 0, 2, 0));
}

TEST_F(RotatingRecording, IsSuspendedWhileTheDiskHasNoRoom) {
  made_.AddSamples(0.1, 8.9);
  std::uint64_t& reserved = made_.options.output.reserved_space;
  made_.clock.At(MadeRecording::At(2), [&] { reserved = std::uint64_t{1} << 62; });
  made_.clock.At(MadeRecording::At(5), [&] { reserved = 0; });
  const RecordSummary summary = made_.Run(9);
  EXPECT_EQ(summary.output.failure, "");
  EXPECT_GE(summary.output.rotation->suspensions, 1);
  EXPECT_GT(summary.output.counts.unwritten_samples, 200);
  const std::vector<FileContent> files = Files();
  EXPECT_EQ(TimesOf(files).size() + summary.output.counts.unwritten_samples, 880);
  std::uint64_t lost = 0;
  for (const FileContent& file : files) lost += file.lost_samples;
  EXPECT_EQ(lost, summary.output.counts.unwritten_samples);
  EXPECT_EQ(summary.lost_samples(), summary.output.counts.unwritten_samples);
  EXPECT_GT(files.back().sample_times.front(), MadeRecording::At(5));
}

TEST_F(RotatingRecording, ContinuesTheOldFileIfTheNextCannotBegin) {
  made_.AddSamples(0.1, 4.9);
  made_.options.rotation->switch_interval = std::chrono::seconds(2);
  made_.clock.At(MadeRecording::At(1),
                 [&] { std::filesystem::rename(dir_ / "out", dir_ / "away"); });
  const RecordSummary summary = made_.Run(5);
  std::filesystem::rename(dir_ / "away", dir_ / "out");
  EXPECT_THAT(summary.warnings, Contains(HasSubstr("the next file begins later")));
  EXPECT_EQ(TimesOf(Files()).size(), 480);
}

TEST_F(RotatingRecording, KeepsTheNewestFiles) {
  made_.AddSamples(0.1, 4.9);
  made_.options.rotation->switch_interval = std::chrono::seconds(1);
  made_.options.rotation->files.keep.files = 2;
  const RecordSummary summary = made_.Run(5);
  const std::vector<FileContent> files = Files();
  EXPECT_EQ(files.size(), 2);
  EXPECT_EQ(summary.output.rotation->deleted, 3);
  EXPECT_GT(files[0].sample_times.front(), MadeRecording::At(2.9));
}

TEST_F(RotatingRecording, JoinsSamplesOnlyWithinAFile) {
  made_.AddSamples(0.1, 4.9);
  made_.options.rotation->switch_interval = std::chrono::seconds(1);
  made_.options.output.aggregate = std::chrono::milliseconds(700);
  made_.Run(5);
  std::uint64_t sum = 0;
  for (const FileContent& file : Files()) {
    for (const std::uint64_t period : file.periods) sum += period;
  }
  EXPECT_EQ(sum, 4800);
}

}  // namespace
}  // namespace perftape::record
