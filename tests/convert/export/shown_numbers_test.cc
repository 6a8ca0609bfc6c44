// SPDX-License-Identifier: Apache-2.0
#include "convert/export/shown_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
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

struct Row {
  std::int64_t count, period;
};

bool AreUnequal(const std::vector<Row>& rows) {
  ProfileMaker made;
  const EventId event = made.Counts("cpu-clock", "nanoseconds");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    made.Hit(made.Calls({"f" + std::to_string(i)}), {}, event, rows[i].count, rows[i].period);
  }
  return HasUnequalAmounts(made.Make(), std::array{event});
}

TEST(HasUnequalAmounts, ComparesWhatOneSampleStandsFor) {
  EXPECT_FALSE(AreUnequal({}));
  EXPECT_FALSE(AreUnequal({{1, 10}, {5, 50}, {3, 30}}));
  EXPECT_FALSE(AreUnequal({{3, 10}, {6, 20}}));  // not a whole number for each sample
  EXPECT_TRUE(AreUnequal({{1, 10}, {1, 11}}));
  EXPECT_TRUE(AreUnequal({{1, 10}, {2, 10}}));
}

TEST(HasUnequalAmounts, IsFalseWithoutPeriods) {
  EXPECT_FALSE(AreUnequal({{1, 0}, {5, 0}}));
  EXPECT_TRUE(AreUnequal({{1, 0}, {5, 1}}));
}

TEST(HasUnequalAmounts, ReadsTheLargestNumbers) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(AreUnequal({{kLargest, kLargest}, {1, 1}}));
  EXPECT_TRUE(AreUnequal({{kLargest, kLargest}, {kLargest - 1, kLargest}}));
}

TEST(HasUnequalAmounts, ComparesAllShownEvents) {
  ProfileMaker made;
  const EventId before = made.Counts("cpu-clock before", "nanoseconds");
  const EventId after = made.Counts("cpu-clock after", "nanoseconds");
  const EventId plain = made.CountsPlainly("alloc_space", "bytes");
  made.Hit(made.Calls({"f"}), {}, before, 2, 20);
  made.Hit(made.Calls({"f"}), {}, after, 2, 2);
  made.Hit(made.Calls({"f"}), {}, plain, 0, 7);
  made.Hit(made.Calls({"g"}), {}, plain, 0, 8);
  const Profile profile = made.Make();
  EXPECT_FALSE(HasUnequalAmounts(profile, std::array{before}));
  EXPECT_FALSE(HasUnequalAmounts(profile, std::array{after, plain}));
  EXPECT_TRUE(HasUnequalAmounts(profile, std::array{before, after}));
}

TEST(ChooseValue, IsWhatWasAskedFor) {
  ProfileMaker made;
  const EventId wait = made.Counts("offcpu-time", "nanoseconds");
  const EventId clock = made.Counts("cpu-clock", "nanoseconds");
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
