// SPDX-License-Identifier: Apache-2.0
#include "record/flight/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/record/made_recording.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FlightRecording : public testing::Test {
 protected:
  FlightRecording() {
    std::filesystem::create_directory(dir_ / "out");
    made_.options.flight.emplace();
    made_.options.flight->span = std::chrono::seconds(2);
  }
  void TriggerOn(std::string_view condition) {
    made_.options.flight->triggers.push_back(ParseTrigger(condition).value());
  }
  // All files, the oldest first.
  std::vector<FileContent> Files() const { return ReadAllIn(dir_ / "out"); }

  TempDir dir_;
  MadeRecording made_{dir_ / "out/p.%n", {"cpu-clock", "rare"}};
};

TEST_F(FlightRecording, HasItsLastSeconds) {
  made_.AddSamples(0.1, 9.9);
  const RecordSummary summary = made_.Run(10);
  const std::vector<FileContent> files = Files();
  ASSERT_EQ(files.size(), 1);
  EXPECT_GT(files[0].sample_times.front(), MadeRecording::At(7));
  EXPECT_LT(files[0].sample_times.front(), MadeRecording::At(8));
  EXPECT_GT(files[0].sample_times.back(), MadeRecording::At(9.8));
  EXPECT_EQ(summary.output.counts.samples, files[0].sample_times.size());
  EXPECT_EQ(summary.output.flight->dropped_samples + summary.output.counts.samples, 980);
  EXPECT_EQ(summary.output.counts.samples_by_event[0], summary.output.counts.samples);
  EXPECT_EQ(files[0].notes->trigger, "the end of the recording");
  EXPECT_EQ(files[0].notes->samples, summary.output.counts.samples);
  EXPECT_TRUE(files[0].has_build_ids);
}

TEST_F(FlightRecording, WritesAFileOnATrigger) {
  made_.AddSamples(0.1, 9.9);
  made_.input().AddSample(MadeRecording::At(5), 7, 1);
  TriggerOn("rare");
  const RecordSummary summary = made_.Run(10);
  const std::vector<FileContent> files = Files();
  ASSERT_EQ(files.size(), 2);
  EXPECT_THAT(files[0].sample_times, Contains(MadeRecording::At(5)));
  EXPECT_LT(files[0].sample_times.back(), MadeRecording::At(5.5));
  EXPECT_THAT(files[0].notes->trigger, HasSubstr("rare"));
  EXPECT_THAT(summary.output.flight->files[0].trigger, HasSubstr("rare"));
}

TEST_F(FlightRecording, IgnoresTriggersDuringTheCooldown) {
  made_.AddSamples(0.1, 9.9);
  for (int i = 0; i < 3; ++i) {
    made_.input().AddSample(MadeRecording::At(4 + i), 7, 1);
    // While a file is written, triggers are ignored, too. So gives the thread that writes time.
    made_.clock.At(MadeRecording::At(4.5 + i),
                   [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
  }
  TriggerOn("rare");
  made_.options.flight->cooldown = std::chrono::seconds(4);
  const RecordSummary summary = made_.Run(10);
  EXPECT_EQ(Files().size(), 2);
  EXPECT_EQ(summary.output.flight->ignored_triggers, 2);
}

TEST_F(FlightRecording, RefusesATriggerOnAnEventThatIsNotRecorded) {
  TriggerOn("absent");
  EXPECT_THROW(made_.Run(1), std::runtime_error);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(FlightRecording, DescribesWhatRanBeforeItsOldestRound) {
  made_.input().Add(MadeRecording::At(0.5), perfdata::Comm{.pid = 7, .tid = 7, .comm = "early"});
  made_.AddSamples(0.1, 9.9);
  made_.Run(10);
  EXPECT_THAT(Files().at(0).comms, ElementsAre("early"));
}

TEST_F(FlightRecording, KeepsLessThanItsSpanWithinItsMemory) {
  made_.AddSamples(0.1, 9.9);
  made_.options.flight->memory = 8192;
  const RecordSummary summary = made_.Run(10);
  EXPECT_TRUE(summary.output.flight->least_kept_ns.has_value());
  EXPECT_LT(summary.output.counts.samples, 150);
  EXPECT_EQ(summary.output.flight->dropped_samples + summary.output.counts.samples, 980);
}

TEST_F(FlightRecording, CountsWhatTheDiskHasNoRoomFor) {
  made_.AddSamples(0.1, 4.9);
  made_.options.output.reserved_space = std::uint64_t{1} << 62;
  const RecordSummary summary = made_.Run(5);
  EXPECT_THAT(summary.output.failure, HasSubstr("--reserve-space"));
  EXPECT_EQ(summary.output.counts.samples, 0);
  EXPECT_GT(summary.output.counts.unwritten_samples, 0);
  EXPECT_EQ(summary.output.counts.unwritten_samples + summary.output.flight->dropped_samples, 480);
  EXPECT_EQ(summary.lost_samples(), summary.output.counts.unwritten_samples);
  EXPECT_THAT(Files(), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
