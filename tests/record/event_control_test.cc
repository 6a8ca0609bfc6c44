// SPDX-License-Identifier: Apache-2.0
// Recordings whose events are switched, with made records.
#include "record/event_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/record/made_recording.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using bundle::NotedPause;
using bundle::NotedPauses;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ControlledRecording : public testing::Test {
 protected:
  ControlledRecording() {
    if (mkfifo(fifo_.c_str(), 0600) != 0) std::abort();
  }

  FileContent File() const { return ReadBack(dir_ / "p.data"); }
  void StartOff() { made_.input().is_off = {0, 1}; }
  void Listen() { made_.options.control.channel = ControlFifos{fifo_, ""}; }
  // Sends a command at a time of the recording. It arrives within a flush interval.
  void SendAt(double seconds, const std::string& command) {
    made_.clock.At(MadeRecording::At(seconds),
                   [this, command] { std::ofstream(fifo_) << command << '\n'; });
  }

  TempDir dir_;
  const std::string fifo_ = dir_ / "ctl";
  MadeRecording made_{dir_ / "p.data", {"cpu-clock", "page-faults"}};
};

TEST_F(ControlledRecording, SwitchesAtTheTimesOfTheRanges) {
  StartOff();
  made_.options.control.delay = {{.from = milliseconds(500), .until = milliseconds(900)},
                                 {.from = milliseconds(2000)}};
  made_.AddSamples(0.5, 0.8);
  const RecordSummary summary = made_.Run(3);
  EXPECT_THAT(made_.input().is_off, IsEmpty());
  const NotedPauses expected = {
      "",
      2,
      1'600'000'000,
      {{kStartNs, MadeRecording::At(0.5)}, {MadeRecording::At(0.9), MadeRecording::At(2)}}};
  EXPECT_THAT(summary.pauses, ElementsAre(expected));
  EXPECT_THAT(File().notes->pauses, ElementsAre(expected));
  EXPECT_THAT(summary.warnings, IsEmpty());
}

TEST_F(ControlledRecording, IsOffUntilACommand) {
  StartOff();
  Listen();
  made_.options.control.delay = EnabledRanges();
  SendAt(1, "enable");
  EXPECT_THAT(made_.Run(3).pauses,
              ElementsAre(AllOf(Field(&NotedPauses::times, 1), Field(&NotedPauses::event, ""))));
  const NotedPause pause = File().notes->pauses.at(0).pauses.at(0);
  EXPECT_EQ(pause.from_ns, kStartNs);
  EXPECT_GE(pause.until_ns, MadeRecording::At(1));
  EXPECT_LE(pause.until_ns, MadeRecording::At(1.3));
}

TEST_F(ControlledRecording, WarnsIfNoEventWasEverOn) {
  StartOff();
  made_.options.control.delay = EnabledRanges();
  EXPECT_THAT(made_.Run(1).warnings, ElementsAre(HasSubstr("no event was ever switched on")));
}

TEST_F(ControlledRecording, SwitchesOneEvent) {
  Listen();
  SendAt(1, "disable page-faults");
  SendAt(2, "enable page-faults");
  SendAt(2.5, "disable nosuch");
  const RecordSummary summary = made_.Run(3);
  EXPECT_THAT(summary.pauses, ElementsAre(AllOf(Field(&NotedPauses::event, "page-faults"),
                                                Field(&NotedPauses::times, 1))));
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("no event is called 'nosuch'")));
}

TEST_F(ControlledRecording, ListsTheEventsAsPerfDoes) {
  Listen();
  std::string text;
  made_.options.control.print = [&](std::string_view part) { text += part; };
  SendAt(1, "evlist");
  SendAt(1.3, "evlist -F");
  made_.Run(2);
  EXPECT_THAT(text, testing::StartsWith("cpu-clock\npage-faults\ndummy"));
  EXPECT_THAT(text, HasSubstr("\npage-faults: sample_freq=99\n"));
}

TEST_F(ControlledRecording, EndsOnStop) {
  Listen();
  made_.AddSamples(0.1, 2.9);
  SendAt(1, "stop");
  EXPECT_LT(made_.Run(3).output.counts.samples, 150);
}

TEST_F(ControlledRecording, RefusesASnapshotWithoutFlight) {
  Listen();
  SendAt(1, "snapshot");
  EXPECT_THAT(made_.Run(2).warnings, ElementsAre(HasSubstr("--flight")));
}

TEST_F(ControlledRecording, WritesAFileOnASnapshot) {
  const TempDir files;
  MadeRecording made{files / "p.%n", {"cpu-clock"}};
  made.options.flight = FlightOptions{.span = std::chrono::seconds(10)};
  made.options.control.channel = ControlFifos{fifo_, ""};
  made.AddSamples(0.1, 2.9);
  made.clock.At(MadeRecording::At(2), [this] { std::ofstream(fifo_) << "snapshot\n"; });
  const RecordSummary summary = made.Run(3);
  EXPECT_THAT(summary.warnings, IsEmpty());
  const std::vector<FileContent> written = ReadAllIn(files.path());
  ASSERT_THAT(written, SizeIs(2));
  EXPECT_EQ(written[0].notes->trigger, "snapshot");
}

TEST_F(ControlledRecording, CountsWhatIsNoCommand) {
  Listen();
  SendAt(1, "bogus\x01");
  EXPECT_THAT(made_.Run(2).warnings, ElementsAre(HasSubstr("unknown commands: 1; the first one: "
                                                           "'bogus?'")));
}

}  // namespace
}  // namespace perftape::record
