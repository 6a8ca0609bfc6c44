// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections.h"

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

TEST(ReportJson, SaysWhoWokeWhom) {
  const Profile profile = Wakeups();
  ReportPlan plan;
  plan.functions = 2;
  const summarize::Contents contents = summarize::MakeContents(profile, {}, plan.contents);
  const auto json = nlohmann::json::parse(ReportJson(contents, {}, plan));
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
