// SPDX-License-Identifier: Apache-2.0
#include "convert/model/merge.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/convert/export/profile_maker.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Profile Merged(const std::vector<Profile>& profiles) {
  Merger merger;
  for (const Profile& profile : profiles) merger.Add(profile);
  return std::move(merger).Finish();
}

std::vector<std::string> EventNames(const Profile& profile) {
  std::vector<std::string> names;
  for (const Event& event : profile.events()) {
    names.push_back(fmt::format("{}/{}", profile.text(event.name), event.period));
  }
  return names;
}

// Returns a profile with one sample of `stack`.
Profile Hit(std::string_view event, std::string_view stack, std::int64_t count,
            std::uint64_t period = 0) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", stack}), made.Runs("app", 7, 7), made.Counts(event, "count", period),
           count, count * 100);
  return made.Make();
}

// Returns a profile with these events and a sample of the first.
Profile OfEvents(std::initializer_list<std::string_view> events, std::uint64_t period = 0) {
  ProfileMaker made;
  EventId first;
  for (const std::string_view event : events) {
    const EventId id = made.Counts(event, "count", period);
    if (event == *events.begin()) first = id;
  }
  made.Hit(made.Calls({"main"}), made.Runs("app", 7, 7), first, 1);
  return made.Make();
}

Profile WithMetadata(Metadata metadata) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), made.Runs("app"), made.Counts("cycles"), 1);
  made.builder.SetMetadata(std::move(metadata));
  return made.Make();
}

TEST(Merge, AddsUpEqualSamplesAndKeepsOthersApart) {
  const Profile merged =
      Merged({Hit("cycles", "f", 1), Hit("cycles", "g", 2), Hit("cycles", "f", 3)});
  EXPECT_THAT(SampleLines(merged),
              ElementsAre("cycles app/7 main;f 4:400", "cycles app/7 main;g 2:200"));
  EXPECT_TRUE(Validate(merged));
}

TEST(Merge, LeavesAProfileAsItIsWhereItIsTheOnlyOne) {
  ProfileMaker made;
  made.Map("/never/hit");
  made.Hit(made.Calls({"main"}), made.Runs("app"), made.Counts("cycles"), 1);
  const Profile only = made.Make();
  EXPECT_EQ(Merged({Profile(), only, Profile()}).mappings().size(), only.mappings().size());
}

TEST(Merge, OfNothingIsEmpty) {
  EXPECT_THAT(Merged({}).samples(), IsEmpty());
  EXPECT_THAT(Merged({Profile(), Profile()}).samples(), IsEmpty());
}

TEST(Merge, KeepsTheOrderOfEventsWhereAllAgree) {
  EXPECT_THAT(EventNames(Merged({OfEvents({"z", "a"}), OfEvents({"z", "a"})})),
              ElementsAre("z/0", "a/0"));
}

TEST(Merge, SortsEventsWhereListsDiffer) {
  EXPECT_THAT(EventNames(Merged({OfEvents({"z", "a"}, 5), OfEvents({"a", "z"}, 5)})),
              ElementsAre("a/5", "z/5"));
  EXPECT_THAT(EventNames(Merged({OfEvents({"z"}, 5), OfEvents({"z", "a"}, 5)})),
              ElementsAre("a/5", "z/5"));
  EXPECT_THAT(EventNames(Merged({OfEvents({"z", "a"}, 5), OfEvents({"z"}, 5)})),
              ElementsAre("a/5", "z/5"));
}

TEST(Merge, KeepsThePeriodThatAllAgreeOn) {
  EXPECT_THAT(EventNames(Merged({Hit("a", "f", 1, 9), Hit("a", "f", 1, 9)})), ElementsAre("a/9"));
  EXPECT_THAT(EventNames(Merged({Hit("a", "f", 1, 9), Hit("a", "f", 1, 8)})), ElementsAre("a/0"));
  // The order of the inputs does not matter, whatever other events they have.
  EXPECT_THAT(EventNames(Merged({Hit("a", "f", 1, 9), Hit("b", "f", 1, 7), Hit("a", "f", 1, 8)})),
              ElementsAre("a/0", "b/7"));
  EXPECT_THAT(EventNames(Merged({Hit("b", "f", 1, 7), Hit("a", "f", 1, 8), Hit("a", "f", 1, 9)})),
              ElementsAre("a/0", "b/7"));
}

TEST(Merge, IgnoresAProfileWithoutSamplesBesideOthers) {
  ProfileMaker made;
  made.Counts("idle");
  made.builder.SetMetadata({.duration_ns = 5, .comments = {"host: idle"}});
  const Profile idle = made.Make();
  const Profile merged = Merged({idle, Hit("cycles", "f", 1), idle, Hit("cycles", "g", 1)});
  EXPECT_THAT(EventNames(merged), ElementsAre("cycles/0"));
  EXPECT_THAT(merged.metadata().comments, IsEmpty());
  EXPECT_THAT(EventNames(Merged({idle, idle})), ElementsAre("idle/0"));
}

TEST(Merge, ScalesCountsToTheSameDecimals) {
  const auto make = [](std::uint8_t decimals, std::int64_t value) {
    ProfileMaker made;
    const EventId event = made.builder.Add(Event{
        .name = made.builder.Add("samples"), .values = EventValues::kPlain, .decimals = decimals});
    made.builder.Add(Sample{.stack = made.Calls({"f"}), .event = event, .period = value});
    return made.Make();
  };
  const Profile merged = Merged({make(0, 3), make(2, 125), make(1, 5)});
  ASSERT_EQ(merged.events().size(), 1U);
  EXPECT_EQ(merged.events()[0].decimals, 2);
  EXPECT_THAT(SampleLines(merged), ElementsAre("samples f 475"));
}

TEST(Merge, UsesTheEarliestStartAndSumsDurations) {
  const Profile merged = Merged({WithMetadata({.start_time_ns = 50, .duration_ns = 3}),
                                 WithMetadata({.duration_ns = 1}),
                                 WithMetadata({.start_time_ns = 20, .duration_ns = 4})});
  EXPECT_EQ(merged.metadata().start_time_ns, 20);
  EXPECT_EQ(merged.metadata().duration_ns, 8);
}

TEST(Merge, KeepsEqualCommentsAsTheyAreAndUnitesOthers) {
  const Profile a = WithMetadata({.comments = {"z", "a"}});
  const Profile b = WithMetadata({.comments = {"m", "a"}});
  EXPECT_THAT(Merged({a, a}).metadata().comments, ElementsAre("z", "a"));
  EXPECT_THAT(Merged({a, b}).metadata().comments, ElementsAre("a", "m", "z"));
}

TEST(Merge, KeepsOfPprofWhatAllAgreeOn) {
  const Profile a = WithMetadata({.drop_frames = "x",
                                  .default_value = "cpu",
                                  .period_type = ValueType{"cpu", "ns"},
                                  .period = 7});
  const Profile b = WithMetadata({.drop_frames = "x",
                                  .default_value = "heap",
                                  .period_type = ValueType{"cpu", "ns"},
                                  .period = 8});
  const Metadata merged = Merged({a, b}).metadata();
  EXPECT_EQ(merged.drop_frames, "x");
  EXPECT_EQ(merged.default_value, "");
  EXPECT_EQ(merged.period_type, (ValueType{"cpu", "ns"}));
  EXPECT_EQ(merged.period, 0);
}

// Returns a profile of a few samples chosen by bytes. Events, stacks, threads and counts are from
// small sets, so that they often repeat.
Profile OfBytes(const std::vector<std::uint8_t>& bytes) {
  static constexpr std::string_view kNames[] = {"a", "b", "c", "d"};
  ProfileMaker made;
  for (const std::uint8_t byte : bytes) {
    made.Hit(made.Calls({"main", kNames[byte & 3]}), made.Runs(kNames[byte >> 2 & 1], 7, 7),
             made.Counts(kNames[byte >> 3 & 3], "count", byte >> 5 & 1), byte >> 6);
  }
  if (!bytes.empty()) {
    made.builder.SetMetadata(
        {.duration_ns = bytes[0], .comments = {std::string(kNames[bytes[0] & 3])}});
  }
  return made.Make();
}

std::vector<std::string> All(const Profile& profile) {
  std::vector<std::string> all = SampleLines(profile);
  for (const std::string& name : EventNames(profile)) all.push_back("event " + name);
  for (const std::string& comment : profile.metadata().comments) all.push_back("# " + comment);
  all.push_back(fmt::format("for {}", profile.metadata().duration_ns));
  return all;
}

RC_GTEST_PROP(Merge, DependsNeitherOnOrderNorOnGrouping,
              (const std::vector<std::vector<std::uint8_t>>& inputs, std::uint8_t split,
               const std::vector<std::uint8_t>& last)) {
  std::vector<Profile> profiles;
  for (const auto& bytes : inputs) profiles.push_back(OfBytes(bytes));
  profiles.push_back(OfBytes(last));
  const std::vector<std::string> expected = All(Merged(profiles));

  const auto middle = profiles.begin() + split % static_cast<int>(profiles.size());
  const Profile front = Merged({profiles.begin(), middle});
  const Profile back = Merged({middle, profiles.end()});
  RC_ASSERT(All(Merged({front, back})) == expected);
  RC_ASSERT(All(Merged({back, front})) == expected);
  std::ranges::reverse(profiles);
  RC_ASSERT(All(Merged(profiles)) == expected);
}

}  // namespace
}  // namespace perftape::convert
