// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_folded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/sample_thread.h"
#include "tests/support/bytes_input.h"
#include "tests/support/matchers.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  Result<Profile> profile;
  ImportReport report;
};

Outcome Read(std::string_view text, const ImportOptions& options = {}) {
  BytesInput input(AsBytes(text));
  ImportReport report;
  Result<Profile> profile = ReadFolded(input, options, report);
  if (profile) {
    EXPECT_THAT(Validate(*profile), IsOk());
  }
  return {std::move(profile), std::move(report)};
}

std::string NameOf(const Profile& profile, LocationId location) {
  const auto lines = profile[location].lines;
  return lines.size() == 1 ? std::string(profile.text(profile[lines[0].function].name)) : "?";
}

// Returns "main|f: 3 (samples)", with "comm pid tid: " before it if the thread is known.
std::vector<std::string> SamplesOf(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    std::string line;
    for (StackId at = sample.stack; at != StackId{}; at = profile[at].caller) {
      const std::string name = NameOf(profile, profile[at].leaf);
      line = at == sample.stack ? name : name + "|" + line;
    }
    if (sample.thread != ThreadId{}) {
      const SampleThread thread = ThreadOf(profile, sample);
      const auto text = [](auto id) { return id ? std::to_string(*id) : "?"; };
      line =
          std::string(thread.comm) + " " + text(thread.pid) + " " + text(thread.tid) + ": " + line;
    }
    lines.push_back(line + ": " + std::to_string(sample.period) + " (" +
                    std::string(profile.text(profile[sample.event].name)) + ")");
  }
  return lines;
}

std::vector<std::string> Samples(std::string_view text, const ImportOptions& options = {}) {
  return SamplesOf(Read(text, options).profile.value());
}

TEST(ReadFolded, MakesAStackOfEachLine) {
  EXPECT_THAT(Samples("main;f;g 3\nmain;f;h 4\nmain 5\nmain;f;g;x 6\nother 7\n"),
              ElementsAre("main|f|g: 3 (samples)", "main|f|h: 4 (samples)", "main: 5 (samples)",
                          "main|f|g|x: 6 (samples)", "other: 7 (samples)"));
}

TEST(ReadFolded, SkipsComments) {
  const Outcome outcome = Read("# mode: wall\n# interval: 100\nmain;f 3\n#\nmain;g 1\n");
  EXPECT_THAT(SamplesOf(outcome.profile.value()),
              ElementsAre("main|f: 3 (samples)", "main|g: 1 (samples)"));
  EXPECT_EQ(outcome.report.skipped_lines, 0U);
}

TEST(ReadFolded, ReportsThatTwoCountsMayBeDifferential) {
  EXPECT_THAT(Read("a;b 3 4\na 1 2.5\n").report.notes,
              ElementsAre(HasSubstr("differential lines")));
  EXPECT_THAT(Read("a;b 3 4\na 2\n").report.notes, IsEmpty());
  EXPECT_THAT(Read("a;b 3 4\n", {.differential = true}).report.notes, IsEmpty());
  EXPECT_THAT(Read("").report.notes, IsEmpty());
}

TEST(ReadFolded, AddsUpEqualStacks) {
  EXPECT_THAT(Samples("a;b 1\na;b;c 2\na;b 3\n"),
              ElementsAre("a|b: 4 (samples)", "a|b|c: 2 (samples)"));
}

TEST(ReadFolded, DistinguishesFramesWithEqualBeginnings) {
  EXPECT_THAT(Samples("abcdefgh;abcdefghij;k 1\nabcdefgh;abcdefghi;k 1\nabcdefgh;abcdefghij 1\n"),
              ElementsAre("abcdefgh|abcdefghij|k: 1 (samples)", "abcdefgh|abcdefghi|k: 1 (samples)",
                          "abcdefgh|abcdefghij: 1 (samples)"));
}

TEST(ReadFolded, HasOneEventOfPlainValues) {
  const Profile profile = Read("main 3\n").profile.value();
  ASSERT_EQ(profile.events().size(), 1U);
  EXPECT_EQ(profile.text(profile.events()[0].unit), "count");
  EXPECT_EQ(profile.events()[0].values, EventValues::kPlain);
  EXPECT_EQ(profile.events()[0].decimals, 0);
  EXPECT_EQ(profile.samples()[0].count, 0);
}

TEST(ReadFolded, NeedsNoSymbolsForItsFrames) {
  const Profile profile = Read("main;read_[k] 3\n").profile.value();
  ASSERT_EQ(profile.mappings().size(), 3U);
  const Mapping& user = profile.mappings()[1];
  const Mapping& kernel = profile.mappings()[2];
  EXPECT_EQ(profile.text(user.filename), "[folded]");
  EXPECT_TRUE(user.names.functions);
  EXPECT_EQ(user.type, MappingType::kUser);
  EXPECT_EQ(profile.text(kernel.filename), "[kernel]");
  EXPECT_TRUE(kernel.names.functions);
  EXPECT_EQ(kernel.type, MappingType::kKernel);
  EXPECT_EQ(NameOf(profile, profile.stacks().back().leaf), "read_[k]");
}

TEST(ReadFolded, KeepsEmptyFramesAndSpaces) {
  EXPECT_THAT(Samples("a;;b c; 1\n;a 2\n 3\n"),
              ElementsAre("a||b c|: 1 (samples)", "|a: 2 (samples)", ": 3 (samples)"));
}

TEST(ReadFolded, UndoesTheEscaping) {
  EXPECT_THAT(Samples("a%3Bb;c%207;d%207 1\nc%207 2\n"),
              ElementsAre("a;b|c%207|d 7: 1 (samples)", "c 7: 2 (samples)"));
}

TEST(ReadFolded, KeepsFractionsExactly) {
  const Profile profile = Read("a 31.23\nb 6.1\nc 1\na 0.001\nd 2.50000\n").profile.value();
  EXPECT_EQ(profile.events()[0].decimals, 3);
  EXPECT_THAT(SamplesOf(profile), ElementsAre("a: 31231 (samples)", "b: 6100 (samples)",
                                              "c: 1000 (samples)", "d: 2500 (samples)"));
}

TEST(ReadFolded, ReportsFractionsThatItRounds) {
  const Outcome outcome = Read("a 9000000000000000.123456\nb 0.0005\n");
  EXPECT_EQ(outcome.profile->events()[0].decimals, 3);
  EXPECT_THAT(SamplesOf(*outcome.profile),
              ElementsAre("a: 9000000000000000123 (samples)", "b: 1 (samples)"));
  EXPECT_THAT(outcome.report.notes, ElementsAre(HasSubstr("rounded to 3")));
}

TEST(ReadFolded, ReportsSaturatedSums) {
  const Outcome outcome = Read("a 9223372036854775807\na 1\n");
  EXPECT_THAT(SamplesOf(*outcome.profile), ElementsAre("a: 9223372036854775807 (samples)"));
  EXPECT_THAT(outcome.report.problems, ElementsAre(HasSubstr("does not fit in 64 bits")));
}

TEST(ReadFolded, KeepsNegativeAndZeroCounts) {
  EXPECT_THAT(Samples("a -3\nb 0\n"), ElementsAre("a: -3 (samples)", "b: 0 (samples)"));
}

TEST(ReadFolded, ReadsTwoCountsIfAsked) {
  EXPECT_THAT(
      Samples("a;b 7 4\nc 0 12.5\n", {.differential = true}),
      ElementsAre("a|b: 70 (before)", "a|b: 40 (after)", "c: 0 (before)", "c: 125 (after)"));
  EXPECT_THAT(Samples("a;b 7 4\n"), ElementsAre("a|b 7: 4 (samples)"));
}

TEST(ReadFolded, AcceptsAnyLineEnds) {
  EXPECT_THAT(Samples("a 1\r\nb 2\r\n\r\nc 3"),
              ElementsAre("a: 1 (samples)", "b: 2 (samples)", "c: 3 (samples)"));
}

TEST(ReadFolded, DecodesUtf16) {
  EXPECT_THAT(Samples("\xff\xfe"
                      "a\0;\0b\0 \0"
                      "1\0\r\0\n\0"sv),
              ElementsAre("a|b: 1 (samples)"));
  EXPECT_THAT(Read("\xff\xfe"
                   "a\0 \0"
                   "1\0\n\0x"sv,
                   {.lenient = true})
                  .report.problems,
              ElementsAre(HasSubstr("UTF-16")));
}

TEST(ReadFolded, NamesTheLineWithoutACount) {
  EXPECT_THAT(Read("a 1\n\nmain;f\nb 1\n").profile,
              FailsWith(ErrorCode::kCorrupt,
                        "line 3: no count at the end of the line (--lenient "
                        "skips such lines)"));
  EXPECT_THAT(Read("a 1\n", {.differential = true}).profile,
              FailsWith(ErrorCode::kCorrupt, HasSubstr("line 1: one count")));
}

TEST(ReadFolded, SkipsLinesWithoutACountIfAsked) {
  const Outcome outcome =
      Read("no count\na 1\nmain;f\nb 99999999999999999999\n", {.lenient = true});
  EXPECT_THAT(SamplesOf(*outcome.profile), ElementsAre("a: 1 (samples)"));
  EXPECT_EQ(outcome.report.skipped_lines, 3U);
  EXPECT_EQ(outcome.report.first_skipped, "line 1");
  EXPECT_EQ(outcome.report.samples, 1U);
}

TEST(ReadFolded, MakesThreadsOfRootFramesIfAsked) {
  EXPECT_THAT(Samples("a b;main 1\na b;main;f 2\nc 3\n", {.root = folded::Root::kComm}),
              ElementsAre("a b ? ?: main: 1 (samples)", "a b ? ?: main|f: 2 (samples)",
                          "c ? ?: : 3 (samples)"));
  EXPECT_THAT(Samples("a-b-7;main 1\nc-?;main 2\n", {.root = folded::Root::kCommPid}),
              ElementsAre("a-b 7 ?: main: 1 (samples)", "c ? ?: main: 2 (samples)"));
  EXPECT_THAT(Samples("a-7/8;main 1\na-7/9;main 2\n", {.root = folded::Root::kCommPidTid}),
              ElementsAre("a 7 8: main: 1 (samples)", "a 7 9: main: 2 (samples)"));
}

TEST(ReadFolded, ReportsFirstFramesThatAreNoRoots) {
  const Outcome outcome = Read("a-7;main 1\nmain;f 2\nmain 3\n", {.root = folded::Root::kCommPid});
  EXPECT_THAT(SamplesOf(*outcome.profile),
              ElementsAre("a 7 ?: main: 1 (samples)", "main|f: 2 (samples)", "main: 3 (samples)"));
  EXPECT_THAT(outcome.report.problems, ElementsAre(HasSubstr("2 lines")));
}

TEST(ReadFolded, ReadsAnEmptyFileAsNothing) {
  const Outcome outcome = Read("");
  ASSERT_THAT(outcome.profile, IsOk());
  EXPECT_THAT(outcome.profile->samples(), IsEmpty());
}

TEST(ReadFolded, ReadsStacksOfAnyDepth) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "f;";
  const Profile profile = Read(text + "g 1\n" + text + "h 1\n").profile.value();
  EXPECT_EQ(profile.stacks().size(), 100'003U);
}

TEST(ReadFolded, ReadsEveryBeginningOfAFile) {
  const std::string text = "\xef\xbb\xbfmain;a%3B;b c 12.5\r\n;;x_[k] 3 4\n-?/7;y -1\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const Outcome outcome = Read(text.substr(0, size), {.lenient = true});
    ASSERT_THAT(outcome.profile, IsOk());
    EXPECT_LE(outcome.report.samples + outcome.report.skipped_lines, 3U);
  }
}

bool Matches(std::string_view text) {
  return IsFolded(BytesInput(AsBytes(text)));
}

TEST(IsFolded, AcceptsLinesThatEndInACount) {
  EXPECT_TRUE(Matches("main;f 1\n"));
  EXPECT_TRUE(Matches("main 1"));
  EXPECT_TRUE(Matches("main;f 1.5\r\nmain 2 3\r\n"));
  EXPECT_TRUE(Matches("\xef\xbb\xbfmain 1\n"));
  EXPECT_TRUE(
      Matches("\xff\xfe"
              "a\0 \0"
              "1\0\n\0"sv));
}

TEST(IsFolded, AcceptsAFileWithSomeOtherLines) {
  EXPECT_TRUE(Matches("# comment\n\na;b 1\na 2\n"));
  EXPECT_TRUE(Matches("a;b 1\nno count\nnone here\n"));
  EXPECT_FALSE(Matches("one\na;two 2\n"));
  EXPECT_FALSE(Matches("one\ntwo 2\nthree 3\n"));
}

TEST(IsFolded, LooksAtWholeLinesOnly) {
  EXPECT_TRUE(Matches("main 1\n" + std::string(5000, 'x')));
  EXPECT_TRUE(Matches(std::string(5000, 'x') + " 1\nb 2\n"));
  EXPECT_FALSE(Matches(std::string(5000, 'x') + "\nb 2\n"));
  EXPECT_FALSE(Matches(std::string(5000, 'x')));
}

TEST(IsFolded, RejectsOtherText) {
  EXPECT_FALSE(Matches(""));
  EXPECT_FALSE(Matches("\n\n"));
  EXPECT_FALSE(Matches("PERFILE2 1\n\0"sv));
  EXPECT_FALSE(Matches("\x1f\x8b main 1\n"));
  EXPECT_FALSE(Matches("\x0a\x04\x08\x01\x10\x02\x12 1\n"));
  EXPECT_FALSE(Matches("@[f, g]: 12\n"));
  EXPECT_FALSE(Matches("swapper     0 [000] 12.5:  1 cycles:\n\tffffffff8 main (/bin/x)\n"));
  EXPECT_FALSE(Matches("{\n  \"a\": 1\n}\n"));
}

TEST(ReadFolded, MapsKernelAddressesIfAsked) {
  constexpr auto kText = "[kernel] 0xffffbeb59d881648;0xffffffff81000100_[k];main 1\n";
  const auto [profile, report] = Read(kText, {.map_kernel_addresses = true});
  ASSERT_THAT(profile, IsOk());
  // Names do not change until a symbolizer finds better ones.
  EXPECT_THAT(SamplesOf(*profile),
              ElementsAre("[kernel] 0xffffbeb59d881648|0xffffffff81000100_[k]|main: 1 (samples)"));
  const StackId marked = (*profile)[profile->samples()[0].stack].caller;
  const Location& location = (*profile)[(*profile)[marked].leaf];
  EXPECT_EQ(location.offset.value, 0xffffffff81000100);
  EXPECT_EQ(profile->AddressOf(location).value, 0xffffffff81000100);
  EXPECT_EQ(profile->text((*profile)[location.mapping].filename), "[kernel.kallsyms]");
  EXPECT_EQ((*profile)[location.mapping].type, MappingType::kKernel);

  const auto [as_named, unused] = Read(kText);
  const StackId same = (*as_named)[as_named->samples()[0].stack].caller;
  EXPECT_EQ((*as_named)[(*as_named)[same].leaf].offset.value, 0);
}

}  // namespace
}  // namespace perftape::convert
