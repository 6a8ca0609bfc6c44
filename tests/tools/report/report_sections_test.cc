// SPDX-License-Identifier: Apache-2.0
#include "tools/report/report_sections.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "convert/model/label_keys.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::report_tool {
namespace {

using convert::Profile;
using convert::ProfileMaker;
using testing::HasSubstr;
using testing::Not;

// A thread "waker" that wakes "worker-1" three times, "worker-2" once and a thread without a name.
Profile Wakeups() {
  ProfileMaker made;
  auto& builder = made.builder;
  const auto wake = [&](std::string_view comm, std::int64_t tid, std::int64_t count) {
    const auto key = builder.Add(convert::kWokenTidLabel);
    std::vector<convert::Label> labels = {{.key = key, .number = tid, .unit = key}};
    if (!comm.empty()) {
      labels.push_back({.key = builder.Add(convert::kWokenLabel), .text = builder.Add(comm)});
    }
    builder.Add(convert::Sample{.stack = made.Calls({"main", "wake"}),
                                .thread = made.Runs("waker", 10, 11),
                                .event = made.Counts("wakeup", "nanoseconds"),
                                .labels = builder.Add(labels),
                                .count = count,
                                .period = count * 1'000'000});
  };
  wake("worker-1", 12, 3);
  wake("worker-2", 13, 1);
  wake("", 14, 2);
  return made.Make();
}

std::string Text(const Profile& profile, const ReportPlan& plan) {
  const summarize::Contents contents = summarize::MakeContents(profile, {}, plan.contents);
  return TextOf(SectionsOf(contents, {}, plan), {});
}

TEST(SectionsOf, ShowSharesOfADifferenceAsPprof) {
  ProfileMaker made;
  const convert::EventId space = made.CountsPlainly("inuse_space", "bytes");
  made.Hit(made.Calls({"main.main", "main.leak"}), {}, space, 0, 524288);
  made.Hit(made.Calls({"main.main", "main.freed"}), {}, space, 0, -2097152);
  ReportPlan plan;
  plan.contents.tree = summarize::TreeDirection::kCallees;
  plan.contents.groups = {{.property = summarize::Property::kComm}};
  const std::string text = Text(made.Make(), plan);
  EXPECT_THAT(text, HasSubstr("shares refer to the sum of the absolute values, 2.50 MiB"));
  EXPECT_THAT(text, HasSubstr("  -80.00 %  -80.00 %   -2.00 MiB"));
  EXPECT_THAT(text, HasSubstr("   20.00 %   20.00 %  512.00 KiB"));
  EXPECT_THAT(text, HasSubstr("  -60.00 %    0.00 %   -1.50 MiB"));  // of the tree
  EXPECT_THAT(text, HasSubstr("  -60.00 %  -1.50 MiB  [unknown]"));
  EXPECT_THAT(text, Not(HasSubstr("133")));
}

TEST(SectionsOf, ShowTheStatesOfAWallClock) {
  ProfileMaker made;
  const convert::EventId wall = made.Counts("wall-clock", "nanoseconds");
  made.Hit(made.Calls({"[sleep]", "main", "poll"}), {}, wall, 1, 3'000'000);
  made.Hit(made.Calls({"[running]", "main"}), {}, wall, 1, 1'000'000);
  ReportPlan plan;
  plan.time_view.view = cli::TimeView::kWall;
  EXPECT_THAT(Text(made.Make(), plan), HasSubstr("States\n"
                                                 "    Share  Samples      Time  State\n"
                                                 "  25.00 %        1  1.000 ms  running\n"
                                                 "  75.00 %        1  3.000 ms  sleep\n"));
}

TEST(SectionsOf, SayWhoWokeWhom) {
  EXPECT_THAT(Text(Wakeups(), {}),
              HasSubstr("Wakeups, with the time that the woken thread had slept\n"
                        "    Share  Samples      Time  Waker  Waker TID  Woken      Woken TID\n"
                        "  50.00 %        3  3.000 ms  waker         11  worker-1   12\n"
                        "  33.33 %        2  2.000 ms  waker         11  [unknown]  14\n"
                        "  16.67 %        1  1.000 ms  waker         11  worker-2   13\n"));
}

TEST(SectionsOf, ShowAsManyWakeupsAsFunctions) {
  ReportPlan plan;
  plan.functions = 1;
  EXPECT_THAT(Text(Wakeups(), plan),
              AllOf(HasSubstr("worker-1"), Not(HasSubstr("worker-2")), HasSubstr("2 more (-n N")));
  plan.functions = 0;
  EXPECT_THAT(Text(Wakeups(), plan), Not(HasSubstr("Wakeups")));
}

TEST(SectionsOf, HaveNoWakeupsOfOtherEvents) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), made.Runs("app"), made.Counts("cycles"), 1, 1);
  EXPECT_THAT(Text(made.Make(), {}), Not(HasSubstr("Wakeups")));
}

// One thread ran "serial" for 10 ms, two together "parallel" for 10 ms each.
Profile SerialAndParallel() {
  ProfileMaker made;
  const auto add = [&](std::string_view function, std::int64_t parallelism, std::int64_t period) {
    const convert::Label label = {.key = made.builder.Add(convert::kParallelismLabel),
                                  .number = parallelism};
    made.builder.Add(convert::Sample{.stack = made.Calls({"main", function}),
                                     .thread = made.Runs("app"),
                                     .event = made.Counts("cpu-clock", "nanoseconds"),
                                     .labels = made.builder.Add({&label, 1}),
                                     .count = period / 1'000'000,
                                     .period = period});
  };
  add("serial", 1, 11'000'000);
  add("parallel", 2, 20'000'000);
  return made.Make();
}

TEST(SectionsOf, ShowTheLatencyOfFunctionsFirst) {
  ReportPlan plan;
  plan.contents.latency = true;
  EXPECT_THAT(
      Text(SerialAndParallel(), plan),
      AllOf(
          HasSubstr("latency 21.000 ms; parallelism 1.65 on average\n"),
          HasSubstr("  Latency  Latency time  Parallelism     Self     Total  Samples       Time  "
                    "Binary  Function\n"
                    "  52.38 %     11.000 ms         1.00  35.48 %   35.48 %       11  11.000 ms  "
                    "        serial\n"
                    "  47.62 %     10.000 ms         2.00  64.52 %   64.52 %       20  20.000 ms  "
                    "        parallel\n")));
}

TEST(ReportJson, HasLatencies) {
  const Profile profile = SerialAndParallel();
  ReportPlan plan;
  plan.contents.latency = true;
  const summarize::Contents contents = summarize::MakeContents(profile, {}, plan.contents);
  const auto json = nlohmann::json::parse(ReportJson(contents, {}, std::nullopt, plan));
  const auto& event = json["events"][0];
  EXPECT_EQ(event["latency"]["weight"], 21'000'000);
  EXPECT_EQ(event["functions"][1]["function"], "parallel");
  EXPECT_EQ(event["functions"][1]["latency"]["self"]["weight"], 10'000'000);
  EXPECT_EQ(event["functions"][1]["latency"]["self"]["parallelism"], 2.0);
  EXPECT_EQ(event["functions"][2]["latency"]["total"]["weight"], 21'000'000);
}

TEST(ReportJson, SaysWhoWokeWhom) {
  const Profile profile = Wakeups();
  ReportPlan plan;
  plan.functions = 2;
  const summarize::Contents contents = summarize::MakeContents(profile, {}, plan.contents);
  const auto json = nlohmann::json::parse(ReportJson(contents, {}, std::nullopt, plan));
  const auto& wakeups = json["events"][0]["wakeups"];
  ASSERT_EQ(wakeups.size(), 2U);
  EXPECT_EQ(wakeups[0]["waker"], (nlohmann::json{{"comm", "waker"}, {"tid", 11}}));
  EXPECT_EQ(wakeups[0]["woken"], (nlohmann::json{{"comm", "worker-1"}, {"tid", 12}}));
  EXPECT_EQ(wakeups[0]["amount"]["samples"], 3);
  EXPECT_EQ(wakeups[0]["amount"]["weight"], 3'000'000);
  EXPECT_EQ(wakeups[1]["woken"], (nlohmann::json{{"comm", ""}, {"tid", 14}}));
}

TEST(NoLabelLine, OffersTheLabelsOfWokenThreads) {
  EXPECT_THAT(NoLabelLine("wokn", Wakeups(), {}), HasSubstr("woken"));
}

}  // namespace
}  // namespace perftape::report_tool
