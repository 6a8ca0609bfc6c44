// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "convert/export/differential.h"
#include "convert/export/flame_graph/flame_graph.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/temp_dir.h"

namespace perftape::flame_graph {
namespace {

using convert::EventId;
using convert::ProfileMaker;
using testing::HasSubstr;
using testing::Not;

std::string Svg(const convert::Profile& profile, const convert::FoldedOptions& options = {}) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.svg").value();
  EXPECT_TRUE(WriteSvg(profile, options, out));
  EXPECT_TRUE(std::move(out).Commit());
  return ReadWholeFile(directory / "out.svg").value();
}

TEST(WriteSvg, WritesABoxForEachFrame) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), cycles, 750);
  made.Hit(made.Calls({"main"}), made.Runs("app"), cycles, 250);
  const std::string svg = Svg(made.Make());
  EXPECT_THAT(svg, HasSubstr("<title>all (1,000 samples, 100.00%)</title><rect x=\"10.0\""));
  EXPECT_THAT(svg, HasSubstr("<title>main (1,000 samples, 100.00%)</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>work (750 samples, 75.00%)</title><rect x=\"10.0\" y=\"36\" "
                             "width=\"885.0\" height=\"15\""));
  EXPECT_THAT(svg, HasSubstr(">work</text>"));
}

TEST(WriteSvg, CutsNamesThatDoNotFit) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"a_long_name_of_a_function"}), {}, cycles, 5);
  made.Hit(made.Calls({"other"}), {}, cycles, 95);
  EXPECT_THAT(Svg(made.Make()), HasSubstr(">a_lon..</text>"));
}

TEST(WriteSvg, FoldsCallsThatAreTooNarrow) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "wide"}), {}, cycles, 1'000'000);
  made.Hit(made.Calls({"main", "narrow"}), {}, cycles, 1);
  const std::string svg = Svg(made.Make());
  EXPECT_THAT(svg, Not(HasSubstr("<title>narrow")));
  EXPECT_THAT(svg, HasSubstr("100.00%)&#10;1 call too narrow to show</title>"));
}

TEST(WriteSvg, WritesPeriodsInTheirUnit) {
  ProfileMaker made;
  made.Hit(made.Calls({"wait"}), {}, made.Counts("offcpu-time", "nanoseconds"), 1, 12345);
  EXPECT_THAT(Svg(made.Make(), {.value = convert::FoldedValue::kPeriod}),
              HasSubstr("<title>wait (12.35 us, 100.00%)</title>"));
}

// "work" takes as long as before, but has a smaller share.
TEST(WriteSvg, ComparesTheTimesOfAverageWindows) {
  const auto side = [](std::int64_t work_ms, std::int64_t wait_ms) {
    ProfileMaker made;
    const EventId path = made.CountsPlainly("critical-path", "nanoseconds");
    made.Hit(made.Calls({"main", "work"}), made.Runs("app"), path, 0, work_ms * 1'000'000);
    made.Hit(made.Calls({"main", "wait"}), made.Runs("app"), path, 0, wait_ms * 1'000'000);
    return made.Make();
  };
  const convert::Profile both = convert::MakeDifferential(side(10, 10), side(10, 30));
  const std::string svg = Svg(both, {.differential = true, .per_window = true});
  EXPECT_THAT(svg, HasSubstr("<title>work (10 ms, 25.00%)&#10;before: 10 ms, +0 ns</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>wait (30 ms, 75.00%)&#10;before: 10 ms, +20 ms</title>"));
  EXPECT_THAT(svg, HasSubstr(">+20 ms per window</text>"));
  EXPECT_THAT(Svg(both, {.differential = true}),
              HasSubstr("<title>work (10 ms, 25.00%)&#10;before: 50.00%, -25.00 points</title>"));
}

TEST(WriteSvg, EscapesNames) {
  ProfileMaker made;
  const convert::LocationId frame = made.Frame(made.Map("/bin/<dso>\n"), 0x10, {"</svg><script>&"});
  made.Hit(made.Calls({frame}), made.Runs("a\"b"), made.Counts("<event>]]>"), 1);
  const std::string svg = Svg(made.Make());
  EXPECT_THAT(svg, HasSubstr("<title>&lt;/svg&gt;&lt;script&gt;&amp; (1 samples"));
  EXPECT_THAT(svg, HasSubstr("&#10;/bin/&lt;dso&gt;\ufffd</title>"));
  EXPECT_THAT(svg, HasSubstr("a&quot;b"));
  EXPECT_THAT(svg, HasSubstr("Flame Graph: &lt;event&gt;]]&gt;"));
  EXPECT_EQ(svg.find("]]>"), svg.rfind("]]>"));  // the end of the script
}

TEST(WriteSvg, SaysThatThereAreNoSamples) {
  EXPECT_THAT(Svg(convert::Profile()), HasSubstr(">no samples</text>"));
}

}  // namespace
}  // namespace perftape::flame_graph
