// SPDX-License-Identifier: Apache-2.0
#include "convert/export/default_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

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

}  // namespace
}  // namespace perftape::convert
