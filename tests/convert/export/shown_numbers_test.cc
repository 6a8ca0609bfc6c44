// SPDX-License-Identifier: Apache-2.0
#include "convert/export/shown_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;

TEST(DefaultEvent, HasTheMostSamples) {
  ProfileMaker made;
  const EventId few = made.Counts("cpu_atom/cycles/");
  const EventId many = made.Counts("cpu_core/cycles/");
  const EventId as_many = made.Counts("instructions");
  made.Hit(made.Calls({"f"}), {}, few, 1, 1'000'000);
  made.Hit(made.Calls({"f"}), {}, many, 2, 2);
  made.Hit(made.Calls({"g"}), {}, many, 2, 2);
  made.Hit(made.Calls({"g"}), {}, as_many, 4, 4);
  const Profile profile = made.Make();
  EXPECT_EQ(DefaultEvent(profile), many);
  EXPECT_THAT(EventsWithSamples(profile), ElementsAre(many, few, as_many));
}

TEST(DefaultEvent, IsTheOneInTheMetadata) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("faults");
  made.Hit(made.Calls({"f"}), {}, cycles, 2);
  made.Hit(made.Calls({"f"}), {}, faults, 1);
  const Profile profile = made.Make();
  for (const char* name : {"faults", "faults_sample", "faults_event"}) {
    ProfileBuilder builder(profile);
    builder.SetMetadata({.default_value = name});
    EXPECT_EQ(DefaultEvent(std::move(builder).Finish()), faults) << name;
  }
  ProfileBuilder builder(profile);
  builder.SetMetadata({.default_value = "faults_"});
  EXPECT_EQ(DefaultEvent(std::move(builder).Finish()), cycles);
}

TEST(DefaultEvent, IsNotEmptyEvenIfTheMetadataNameIt) {
  ProfileMaker made;
  const EventId cpu = made.CountsPlainly("cpu", "nanoseconds");
  const EventId lock = made.CountsPlainly("lock_time", "nanoseconds");
  made.Hit(made.Calls({"f"}), {}, cpu, 0, 10);
  made.Hit(made.Calls({"f"}), {}, lock, 0, 0);
  made.builder.SetMetadata({.default_value = "lock_time"});
  EXPECT_EQ(DefaultEvent(made.Make()), cpu);
}

TEST(DefaultEvent, IsTheLastOfPlainValues) {
  ProfileMaker made;
  const EventId space = made.CountsPlainly("alloc_space");
  const EventId in_use = made.CountsPlainly("inuse_space");
  const Profile empty = made.Make();
  EXPECT_EQ(DefaultEvent(empty), in_use);
  EXPECT_EQ(DefaultEvent(Profile()), std::nullopt);
  ProfileMaker with_values;
  with_values.CountsPlainly("alloc_space");
  const EventId objects = with_values.CountsPlainly("inuse_objects");
  with_values.CountsPlainly("inuse_space");
  with_values.Hit(with_values.Calls({"f"}), {}, space, 0, 5);
  with_values.Hit(with_values.Calls({"f"}), {}, objects, 0, 1);
  EXPECT_EQ(DefaultEvent(with_values.Make()), objects);
}

FoldedValue Chosen(const Profile& profile, EventId event) {
  return ChooseValue(profile, {}, std::array{event});
}

TEST(ChooseValue, IsTheTimeOfWaitsWithHoweverManyStacks) {
  for (const char* name : {"offcpu-time", "offcpu-time:u", "offcpu-disk-time", "lock-time",
                           "wakeup", "latency:fsync", "offcpu-time after"}) {
    for (const bool has_two : {false, true}) {
      ProfileMaker made;
      const EventId wait = made.Counts(name, "nanoseconds", 1);
      made.Hit(made.Calls({"f"}), {}, wait, 5, 500);
      if (has_two) made.Hit(made.Calls({"g"}), {}, wait, 1, 7);
      EXPECT_EQ(Chosen(made.Make(), wait), FoldedValue::kPeriod) << name << has_two;
    }
  }
}

TEST(ChooseValue, IsTheNumberOfSamplesIfAllHaveTheNominalPeriod) {
  for (const std::int64_t of_last : {10, 15}) {
    ProfileMaker made;
    const EventId clock = made.Counts("cpu-clock", "nanoseconds", 10);
    made.Hit(made.Calls({"f"}), {}, clock, 2, 20);
    made.Hit(made.Calls({"g"}), {}, clock, 1, of_last);
    EXPECT_EQ(Chosen(made.Make(), clock),
              of_last == 10 ? FoldedValue::kSamples : FoldedValue::kPeriod);
  }
}

// Some writers give a clock the frequency of another event.
TEST(ChooseValue, IsTheNumberOfSamplesOfAClockWithOnePeriodThatIsNotTheNominalOne) {
  for (const std::int64_t of_last : {4, 6}) {
    ProfileMaker made;
    const EventId clock = made.Counts("cpu-clock", "nanoseconds", 10);
    made.Hit(made.Calls({"f"}), {}, clock, 2, 8);
    made.Hit(made.Calls({"g"}), {}, clock, 1, of_last);
    EXPECT_EQ(Chosen(made.Make(), clock),
              of_last == 4 ? FoldedValue::kSamples : FoldedValue::kPeriod);
  }
}

// Samples that were added up to others, in one stack.
TEST(ChooseValue, IsThePeriodIfSamplesHaveMoreThanTheNominalOne) {
  ProfileMaker made;
  const EventId clock = made.Counts("cpu-clock", "nanoseconds", 10);
  made.Hit(made.Calls({"f"}), {}, clock, 2, 80);
  EXPECT_EQ(Chosen(made.Make(), clock), FoldedValue::kPeriod);
}

TEST(ChooseValue, IsThePeriodIfNoneIsFixed) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId added_up = made.Counts("cpu-clock", "nanoseconds");
  made.Hit(made.Calls({"f"}), {}, cycles, 3, 300);
  made.Hit(made.Calls({"f"}), {}, added_up, 3, 300);
  const Profile profile = made.Make();
  EXPECT_EQ(Chosen(profile, cycles), FoldedValue::kPeriod);
  EXPECT_EQ(Chosen(profile, added_up), FoldedValue::kPeriod);
}

TEST(ChooseValue, IsTheNumberOfSamplesWithoutPeriods) {
  for (const std::int64_t period : {0, 1}) {
    ProfileMaker made;
    const EventId cycles = made.Counts("cycles");
    made.Hit(made.Calls({"f"}), {}, cycles, 4, 4 * period);
    made.Hit(made.Calls({"g"}), {}, cycles, 1, period);
    EXPECT_EQ(Chosen(made.Make(), cycles), FoldedValue::kSamples) << period;
  }
}

TEST(ChooseValue, ComparesAllShownEvents) {
  ProfileMaker made;
  const EventId before = made.Counts("cpu-clock before", "nanoseconds", 10);
  const EventId after = made.Counts("cpu-clock after", "nanoseconds", 1000);
  const EventId as_before = made.Counts("task-clock", "nanoseconds", 10);
  const EventId empty = made.Counts("offcpu-time", "nanoseconds", 0);
  const EventId plain = made.CountsPlainly("alloc_space", "bytes");
  for (const EventId clock : {before, as_before}) made.Hit(made.Calls({"f"}), {}, clock, 2, 20);
  made.Hit(made.Calls({"f"}), {}, after, 2, 2000);
  made.Hit(made.Calls({"f"}), {}, plain, 0, 7);
  const Profile profile = made.Make();
  EXPECT_EQ(ChooseValue(profile, {}, std::array{before, as_before, empty, plain}),
            FoldedValue::kSamples);
  EXPECT_EQ(ChooseValue(profile, {}, std::array{before, after}), FoldedValue::kPeriod);
}

TEST(ChooseValue, IsWhatWasAskedFor) {
  ProfileMaker made;
  const EventId wait = made.Counts("offcpu-time", "nanoseconds");
  const EventId clock = made.Counts("cpu-clock", "nanoseconds", 4);
  made.Hit(made.Calls({"f"}), {}, wait, 1, 3);
  made.Hit(made.Calls({"g"}), {}, wait, 1, 4);
  made.Hit(made.Calls({"g"}), {}, clock, 1, 4);
  const Profile profile = made.Make();
  EXPECT_THAT(ChooseValues(profile, {}), ElementsAre(FoldedValue::kPeriod, FoldedValue::kSamples));
  EXPECT_THAT(ChooseValues(profile, FoldedValue::kSamples),
              ElementsAre(FoldedValue::kSamples, FoldedValue::kSamples));
  EXPECT_EQ(ChooseValue(profile, FoldedValue::kPeriod, std::array{clock}), FoldedValue::kPeriod);
}

}  // namespace
}  // namespace perftape::convert
