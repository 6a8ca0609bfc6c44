// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "convert/export/viewers/viewers.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/temp_dir.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::ProfileMaker;
using testing::ElementsAre;
using testing::HasSubstr;

std::string CallgrindText(const convert::Profile& profile, ViewReport* report = nullptr) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "callgrind.out").value();
  const Result<ViewReport> written =
      WriteCallgrind(profile, {.value = convert::FoldedValue::kPeriod}, out);
  EXPECT_TRUE(written);
  if (report != nullptr) *report = *written;
  EXPECT_TRUE(std::move(out).Commit());
  return ReadWholeFile(directory / "callgrind.out").value();
}

TEST(WriteCallgrind, WritesFunctionsWithTheirLinesAndCalls) {
  ProfileMaker made;
  const convert::MappingId mapping = made.Map("/bin/app");
  const convert::FunctionId work =
      made.builder.Add(convert::Function{.name = made.builder.Add("work"),
                                         .filename = made.builder.Add("/src/work.c"),
                                         .start_line = 10});
  const convert::Line line = {.function = work, .number = 12};
  const convert::LocationId leaf =
      made.builder.Add(convert::Location{.mapping = mapping, .lines = {&line, 1}});
  made.Hit(made.Calls({made.Frame(mapping, 0x20, {"main"}), leaf}), {}, made.Counts("cycles"), 1,
           900);
  EXPECT_EQ(CallgrindText(made.Make()), R"(# callgrind format
version: 1
creator: perftape
positions: line
events: cycles

ob=(1) /bin/app
fl=(1) ???
fn=(1) main
cob=(1)
cfi=(2) /src/work.c
cfn=(2) work
calls=1 10
0 900

ob=(1)
fl=(2)
fn=(2)
12 900

ob=(2) ???
fl=(3) [thread]
fn=(3) [all]
cob=(1)
cfi=(1)
cfn=(1)
calls=1 0
0 900

totals: 900
)");
}

TEST(WriteCallgrind, MakesDistinctWordsOfEvents) {
  ProfileMaker made;
  made.Hit(made.Calls({"a"}), {}, made.Counts("cpu-clock:u"), 1, 10);
  made.Hit(made.Calls({"a"}), {}, made.Counts("cycles user"), 1, 20);
  made.Hit(made.Calls({"a"}), {}, made.Counts("cycles\nuser"), 1, 30);
  const std::string text = CallgrindText(made.Make());
  EXPECT_THAT(text, HasSubstr("\nevents: cpu-clock:u cycles_user cycles_user_2\n"));
  EXPECT_THAT(text, HasSubstr("\n0 10 20 30\n"));
  EXPECT_THAT(text, HasSubstr("\ntotals: 10 20 30\n"));
}

TEST(WriteCallgrind, WritesNamesThatCannotEndALine) {
  ProfileMaker made;
  made.Hit(made.Calls({"a\nfn=(9) b", "", "  ", "(1)"}), {}, made.Counts("cycles"), 1, 1);
  const std::string text = CallgrindText(made.Make());
  EXPECT_THAT(text, HasSubstr(") a\ufffdfn=(9) b\n"));
  EXPECT_THAT(text, HasSubstr(") (1)\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr(") \n")));
}

TEST(WriteCallgrind, RoundsFractionsAndReportsIt) {
  ProfileMaker made;
  made.Hit(made.Calls({"a"}), {}, made.CountsPlainly("ms", "ms", 2), 0, 1250);
  ViewReport report;
  EXPECT_THAT(CallgrindText(made.Make(), &report), HasSubstr("\n0 13\n\ntotals: 13\n"));
  EXPECT_THAT(report.rounded_events, ElementsAre("ms"));
}

TEST(WriteCallgrind, WritesLargeNumbersExactlyAndDoesNotOverflow) {
  ProfileMaker made;
  constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max();
  const EventId large = made.CountsPlainly("large");
  made.Hit(made.Calls({"a"}), {}, large, 0, kLarge);
  made.Hit(made.Calls({"a", "b"}), {}, large, 0, kLarge);
  EXPECT_THAT(CallgrindText(made.Make()), HasSubstr("\ntotals: 9223372036854775807\n"));
}

TEST(WriteCallgrind, HasAnEventEvenWithoutSamples) {
  EXPECT_THAT(CallgrindText(convert::Profile()), HasSubstr("events: samples\n\ntotals: 0\n"));
}

}  // namespace
}  // namespace perftape::viewers
