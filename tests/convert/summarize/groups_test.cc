// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/groups.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::Label;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
using convert::Sample;
using testing::ElementsAre;

std::vector<std::string> Texts(const Profile& profile, const GroupBy& by) {
  std::vector<std::string> texts;
  for (const GroupAmount& group : SumGroups(profile, StackAmounts(profile, EventId{}), by)) {
    texts.push_back(fmt::format("{}={}", group.name, group.amount.weight));
  }
  return texts;
}

TEST(SumGroups, AddsUpByThreadAndBinary) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const auto app = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const auto libc = made.Frame(made.Map("/lib/libc.so.6"), 1, {"read"});
  made.Hit(made.Calls({app, libc}), made.Runs("one", 10, 10), event, 1, 5);
  made.Hit(made.Calls({app}), made.Runs("one", 10, 11), event, 1, 2);
  made.Hit(made.Calls({app}), made.Runs("two", 20, 20), event, 1, 4);
  made.Hit({}, {}, event, 1, 1);
  const Profile profile = made.Make();

  EXPECT_THAT(Texts(profile, {.property = Property::kComm}), ElementsAre("one=7", "two=4", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kPid}), ElementsAre("10=7", "20=4", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kTid}),
              ElementsAre("10=5", "20=4", "11=2", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kDso}),
              ElementsAre("/bin/app=6", "/lib/libc.so.6=5", "=1"));
}

TEST(SumGroups, AddsUpByLabels) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  auto& builder = made.builder;
  const auto add = [&](std::vector<Label> labels, std::int64_t period) {
    builder.Add(Sample{.stack = made.Calls({"main"}),
                       .event = event,
                       .labels = builder.Add(labels),
                       .count = 1,
                       .period = period});
  };
  add({{.key = builder.Add("cpu"), .number = 3, .unit = builder.Add("cpu")}}, 5);
  add({{.key = builder.Add("cpu"), .number = 4, .unit = builder.Add("cpu")},
       {.key = builder.Add("region"), .text = builder.Add("eu")}},
      6);
  add({{.key = builder.Add("size"), .number = 64, .unit = builder.Add("bytes")}}, 1);
  const Profile profile = made.Make();

  EXPECT_THAT(Texts(profile, {.property = Property::kCpu}), ElementsAre("4=6", "3=5", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kLabel, .label = "region"}),
              ElementsAre("=6", "eu=6"));
  EXPECT_THAT(Texts(profile, {.property = Property::kLabel, .label = "size"}),
              ElementsAre("=11", "64 bytes=1"));
}

}  // namespace
}  // namespace perftape::summarize
