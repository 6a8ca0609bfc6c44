// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "convert/model/mappings_without_files.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/bytes_input.h"
#include "tests/support/matchers.h"
#include "tests/support/profile_check.h"
#include "tests/support/stdin_from.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  Profile profile;
  ImportReport report;
};

Outcome Read(std::string_view text, const ImportOptions& options = {}) {
  BytesInput input(AsBytes(text));
  ImportReport report;
  Result<Profile> profile = ReadScript(input, options, report);
  EXPECT_TRUE(profile);
  EXPECT_THAT(Validate(*profile), IsOk());
  return {*std::move(profile), std::move(report)};
}

// Returns "dso+offset name,name" for each frame of the first sample's stack, leaf first.
std::vector<std::string> FramesOf(const Profile& profile) {
  std::vector<std::string> frames;
  for (StackId at = profile.samples().front().stack; at != StackId{}; at = profile[at].caller) {
    const Location& location = profile[profile[at].leaf];
    std::string text = fmt::format("{}+{:x}", profile.text(profile[location.mapping].filename),
                                   location.offset.value);
    for (const Line& line : location.lines) {
      text += fmt::format(" {}", profile.text(profile[line.function].name));
      if (line.number == 0) continue;
      text += fmt::format("@{}:{}", profile.text(profile[line.function].filename), line.number);
    }
    frames.push_back(text);
  }
  return frames;
}

TEST(ReadScript, CountsEqualSamples) {
  const auto read = Read(
      "sh 7/8 [000] 1.000000: 5 cycles: \n\t 2 f+0x1 (/x)\n\t 1 main (/x)\n\n"
      "sh 7/8 [001] 2.000000: 6 cycles: \n\t 2 f+0x1 (/x)\n\t 1 main (/x)\n\n"
      "my prog 9/9 3.000000: 1 cycles: \n\t 1 main (/x)\n");
  EXPECT_THAT(SampleLines(read.profile),
              ElementsAre("cycles my prog/9 main 1:1", "cycles sh/7 main;f 2:11"));
  EXPECT_EQ(read.report.samples, 3);
  EXPECT_EQ(read.report.frames, 5);
  EXPECT_EQ(read.profile.metadata().duration_ns, 2'000'000'000);
  EXPECT_THAT(read.report.problems, IsEmpty());
}

// As two texts in one file are.
TEST(ReadScript, SaysThatTimesRunBackwards) {
  const std::string first = "sh 7 1.000000: 1 cycles: \n\t 2 f (/x)\n\n";
  const std::string second = "sh 7 2.500000: 1 cycles: \n\t 2 f (/x)\n\n";
  EXPECT_THAT(Read(first + first + second).report.notes, IsEmpty());
  const auto read = Read(second + first + second + first);
  EXPECT_EQ(read.report.samples, 4);
  EXPECT_THAT(read.report.notes,
              ElementsAre(HasSubstr("times run backwards 2 times (the first: 1.000000 s after "
                                    "2.500000 s)")));
}

TEST(ReadScript, GivesASampleWithoutAPeriodTheWeight1) {
  EXPECT_THAT(SampleLines(Read("sh 7/8 1.0: cycles: \n\t 1 f (/x)\n").profile),
              ElementsAre("cycles sh/7 f 1:1"));
}

TEST(ReadScript, KeepsTheThreadOfALineWithoutAProcess) {
  const Profile profile = Read("sh 8 1.0: cycles: \n").profile;
  const Thread& thread = profile[profile.samples().front().thread];
  EXPECT_EQ(thread.pid, kUnknownId);
  EXPECT_EQ(thread.tid, 8);
}

TEST(ReadScript, KnowsTheUnitsOfClocks) {
  const Profile profile =
      Read("sh 8 1.0: cpu-clock:u: \nsh 8 2.0: offcpu-time: \nsh 8 3.0: cycles: \n").profile;
  std::vector<std::string_view> units;
  for (const Event& event : profile.events()) units.push_back(profile.text(event.unit));
  EXPECT_THAT(units, ElementsAre("nanoseconds", "nanoseconds", "count"));
}

TEST(ReadScript, SubtractsOneFromReturnAddresses) {
  const Profile profile =
      Read(
          "sh 7/8 1.0: e: \n\tffffffff81000010 leaf+0x1 ([kernel.kallsyms])\n"
          "\tffffffff81000020 entry+0x1 ([kernel.kallsyms])\n"
          "\t 30 read+0x1 (/lib/libc.so.6)\n\t 40 main (/bin/sh)\n\t 0 [unknown] ([unknown])\n")
          .profile;
  EXPECT_THAT(FramesOf(profile), ElementsAre("[kernel.kallsyms]+ffffffff81000010 leaf",
                                             "[kernel.kallsyms]+ffffffff8100001f entry",
                                             "/lib/libc.so.6+30 read", "/bin/sh+3f main", "+0"));
  const Location& leaf = profile[profile[profile.samples().front().stack].leaf];
  EXPECT_EQ(profile[leaf.mapping].type, MappingType::kKernel);
  EXPECT_EQ(profile.AddressOf(leaf).value, 0xffffffff81000010);
}

TEST(ReadScript, SubtractsNothingBelowASignal) {
  const Profile profile =
      Read(
          "sh 7/8 1.0: e: \n\t 10 handler (/x)\n\t 20 __restore_rt (/lib/libc)\n"
          "\t 30 loop (/x)\n\t 40 main (/x)\n")
          .profile;
  EXPECT_THAT(FramesOf(profile), ElementsAre("/x+10 handler", "/lib/libc+20 __restore_rt",
                                             "/x+30 loop", "/x+3f main"));
}

TEST(ReadScript, JoinsInlinedCalls) {
  const Outcome read = Read(
      "sh 7/8 1.0: e: \n\t 40 inner (inlined)\n  a.c:1\n\t 40 middle (inlined)\n"
      "\t 40 outer+0x1 (/x)\n  b.c:2\n\t 50 last (inlined)\n");
  EXPECT_THAT(FramesOf(read.profile),
              ElementsAre("/x+40 inner@a.c:1 middle outer@b.c:2", "+4f last"));
  EXPECT_EQ(read.report.unmapped_frames, 1);
  const Location& outer = read.profile[read.profile[read.profile.samples().front().stack].leaf];
  EXPECT_TRUE(read.profile[outer.mapping].names.inline_frames);
}

TEST(ReadScript, TellsAnInlinedCallFromAFrameOfAnotherAddress) {
  EXPECT_THAT(
      FramesOf(Read("sh 7/8 1.0: e: \n\t 40 inner (inlined)\n\t 90 [unknown] (/x)\n").profile),
      ElementsAre("+40 inner", "/x+8f"));
  EXPECT_THAT(
      FramesOf(Read("sh 7/8 1.0: e: \n\t 40 inner (inlined)\n\t 40 [unknown] (/x)\n").profile),
      ElementsAre("/x+40 inner"));
}

TEST(ReadScript, ReadsTheEncodingsThatOtherTextsHave) {
  const std::string text = "my prog 7/8 1.0: e: \r\n\t 40 f (/x)\r\n";
  std::string little = "\xff\xfe";
  std::string big = "\xfe\xff";
  for (const char c : text) {
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (const std::string& encoded : {text, "\xef\xbb\xbf" + text, little, big}) {
    EXPECT_THAT(SampleLines(Read(encoded).profile), ElementsAre("e my prog/7 f 1:1"));
    EXPECT_TRUE(IsScript(BytesInput(AsBytes(encoded))));
    const PipeWith pipe(encoded);
    const StdinFrom redirected(pipe.get());
    Input stream = Input::Open("-").value();
    ImportReport report;
    EXPECT_THAT(SampleLines(ReadScript(stream, {}, report).value()),
                ElementsAre("e my prog/7 f 1:1"));
  }
  EXPECT_THAT(Read(little + "x").report.problems, testing::Contains(HasSubstr("U+FFFD")));
}

TEST(ReadScript, TakesTraceErrorsForNoDamage) {
  const Outcome read = Read(
      " instruction trace error type 1 time 1.5 cpu 0 pid 7 tid 7 ip 0 code 8: Lost trace data\n"
      "Processed 9 events and lost 2 chunks!\nsh 7/8 1.0: e: \n");
  EXPECT_THAT(read.report.problems, IsEmpty());
  EXPECT_THAT(read.report.notes,
              ElementsAre(HasSubstr("1 trace error, the first: Lost trace data")));
  EXPECT_EQ(read.report.lost_records, 2);
}

// Text of `perf script --no-merge-callchains` of perf 7.3.
TEST(ReadScript, JoinsDeferredUserFrames) {
  const Outcome read = Read(
      "app     101     1.000000:          7 cpu-clock: \n\tffffffff81001000 k+0x9 "
      "([kernel.kallsyms])\n"
      "\t       b00000006 (cookie) ([unknown])\n\n"
      "app     102     1.000001:          5 cpu-clock: \n\t       b00000006 (cookie) "
      "([unknown])\n\n"
      "app     101     1.000002:          3 cpu-clock: \n\t       b00000005 (cookie) "
      "([unknown])\n\n"
      "app     101     1.000003: DEFERRED CALLCHAIN [cookie: b00000006]\n\t 401000 f (/opt/app)\n"
      "\t 402000 main (/opt/app)\n\n"
      "app     102     1.000004: DEFERRED CALLCHAIN [cookie: b00000006]\n\t 403000 g "
      "(/opt/app)\n\n");
  EXPECT_THAT(SampleLines(read.profile),
              ElementsAre("cpu-clock  1:3", "cpu-clock g 1:5", "cpu-clock main;f;k 1:7"));
  EXPECT_EQ(read.report.without_user_frames, 1U);
}

TEST(ReadScript, TellsFramesOfOtherLinesApart) {
  EXPECT_EQ(Read("sh 7 1.0: e: \n\t 40 f (/x)\n  a.c:1\n\nsh 7 1.0: e: \n\t 40 f (/x)\n  a.c:2\n\n"
                 "sh 7 1.0: e: \n\t 40 f (/x)\n  a.c:1\n")
                .profile.samples()
                .size(),
            2);
}

TEST(ReadScript, KeepsSamplesWithoutFrames) {
  const Profile profile = Read("sh 7/7 1.0: e: \n\nsh 7/7 2.0: e: \n").profile;
  ASSERT_EQ(profile.samples().size(), 1);
  EXPECT_EQ(profile.samples().front().stack, StackId{});
  EXPECT_EQ(profile.samples().front().count, 2);
}

TEST(ReadScript, MakesLabelsOnRequest) {
  const std::string_view text = "sh 7/7 [003] 1.5: e: \n\t 1 f (/x)\n";
  EXPECT_THAT(SampleLines(Read(text).profile), ElementsAre("e sh/7 f 1:1"));
  EXPECT_THAT(SampleLines(Read(text, {.cpu_label = true, .time_label = true}).profile),
              ElementsAre("e sh/7 f {cpu=3} {timestamp_ns=1500000000} 1:1"));
}

TEST(ReadScript, LeavesOutSamplesOutsideTheTime) {
  const auto read = Read("sh 7 1.0: e: \nsh 7 2.0: e: \nsh 7 3.0: e: \nsh 7 4.0: e: \nsh 7 e: \n",
                         {.time = TimeRange{.from = TimePoint{.nanoseconds = 1'000'000'000},
                                            .to = TimePoint{.percent = 70}}});
  EXPECT_EQ(read.report.samples, 3);  // of 2 s, 3 s, and without a time
  EXPECT_EQ(read.report.outside_time, 2);
}

TEST(ReadScript, CountsSamplesOverTheTime) {
  const auto read = Read("sh 7 1.0: e: \nsh 7 1.1: e: \nsh 7 3.0: e: \n", {.histogram_bins = 2});
  EXPECT_THAT(read.report.histogram.samples, ElementsAre(2, 1));
  EXPECT_EQ(read.report.histogram.first_ns, 1'000'000'000);
}

TEST(ReadScript, FindsWhenTheFirstOfEqualSamplesWasTaken) {
  const Profile profile =
      Read("sh 7 1.0: x: \nsh 7 1.5: e: \nsh 7 1.25: e: \n", {.first_times = true}).profile;
  EXPECT_EQ(profile.samples()[1].first_ms, 250);
}

TEST(ReadScript, ReportsLinesThatItDoesNotKnowAndLosses) {
  const auto read = Read("sh 7 1.0: e: \n  WEIRD\n\nwhat\nsh 7 1.0: PERF_RECORD_LOST lost 5\n");
  EXPECT_EQ(read.report.samples, 1);
  EXPECT_EQ(read.report.lost_records, 5);
  ASSERT_EQ(read.report.problems.size(), 1);
  EXPECT_THAT(read.report.problems[0], HasSubstr("2 lines"));
  EXPECT_THAT(read.report.problems[0], HasSubstr("line 2"));
}

TEST(ReadScript, KeepsTheHeader) {
  EXPECT_THAT(Read("# ========\n# hostname : build7\n# ========\n#\nsh 7 1.0: e: \n")
                  .profile.metadata()
                  .comments,
              ElementsAre("hostname: build7"));
}

TEST(ReadScript, ReadsAStream) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "sh 7/7 1.0: 3 e: \n\t 2 f (/x)\n\t 1 main (/x)\n\n";
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  ImportReport report;
  const Result<Profile> profile = ReadScript(input, {}, report);
  ASSERT_TRUE(profile);
  EXPECT_TRUE(input.is_stream());  // it was not copied
  EXPECT_THAT(SampleLines(*profile), ElementsAre("e sh/7 main;f 20000:60000"));
}

TEST(ReadScript, ReadsAnEmptyText) {
  EXPECT_THAT(Read("").profile.samples(), IsEmpty());
  EXPECT_THAT(Read("# ========\n").profile.samples(), IsEmpty());
}

TEST(ReadScript, KeepsAddressesOfAHiddenKernel) {
  const auto read = Read(
      "sh 7/8 1.000000: cycles: \n\tffffffff81000010 [unknown] ([kernel])\n\n"
      "sh 7/8 2.000000: cycles: \n\t0 read_[k] ([kernel])\n\n");
  std::vector<bool> are_hidden;
  for (const Sample& sample : read.profile.samples()) {
    const Location& frame = read.profile[read.profile[sample.stack].leaf];
    are_hidden.push_back(IsHiddenKernel(read.profile, read.profile[frame.mapping]));
  }
  EXPECT_THAT(are_hidden, ElementsAre(true, false));
}

}  // namespace
}  // namespace perftape::convert
