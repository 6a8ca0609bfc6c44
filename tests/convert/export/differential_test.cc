// SPDX-License-Identifier: Apache-2.0
#include "convert/export/differential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert/model/sample_thread.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> NamesOfPairs(const Profile& profile) {
  std::vector<std::string> names;
  for (const EventPair& pair : EventPairsOf(profile)) names.emplace_back(pair.name);
  return names;
}

// Returns the sum of the counts of an event.
std::int64_t CountOf(const Profile& profile, EventId event) {
  std::int64_t sum = 0;
  for (const Sample& sample : profile.samples()) {
    if (sample.event == event) sum += sample.count;
  }
  return sum;
}

TEST(MakeDifferential, PairsEventsByName) {
  ProfileMaker before, after;
  before.Hit(before.Calls({"f"}), {}, before.Counts("cycles"), 1);
  before.Hit(before.Calls({"f"}), {}, before.Counts("faults"), 2);
  after.Hit(after.Calls({"f"}), {}, after.Counts("branches"), 4);
  after.Hit(after.Calls({"f"}), {}, after.Counts("cycles"), 8);
  const Profile both = MakeDifferential(before.Make(), after.Make());
  EXPECT_THAT(NamesOfPairs(both), ElementsAre("branches", "cycles", "faults"));
  std::vector<std::int64_t> counts;
  for (const EventPair& pair : EventPairsOf(both)) {
    counts.push_back(CountOf(both, pair.before));
    counts.push_back(CountOf(both, pair.after));
  }
  EXPECT_THAT(counts, ElementsAre(0, 4, 1, 8, 2, 0));
  EXPECT_EQ(ChooseEventPair(both)->name, "cycles");
  EXPECT_EQ(ChooseEventPair(both, EventPairsOf(both)[1].before)->name, "cycles");
}

TEST(MakeDifferential, PairsTheOnlyEventsWhateverTheirNames) {
  ProfileMaker before, after;
  before.Counts("faults");
  before.Hit(before.Calls({"f"}), {}, before.Counts("cycles"), 1);
  after.Hit(after.Calls({"f"}), {}, after.Counts("cpu-clock"), 2);
  const Profile both = MakeDifferential(before.Make(), after.Make());
  EXPECT_THAT(NamesOfPairs(both), ElementsAre("cpu-clock"));
  EXPECT_EQ(CountOf(both, ChooseEventPair(both)->before), 1);
  EXPECT_EQ(CountOf(both, ChooseEventPair(both)->after), 2);
}

TEST(MakeDifferential, KeepsWhatIsKnownOfBothSides) {
  ProfileMaker before, after;
  before.Hit(before.Calls({"f"}), {}, before.Counts("cycles"), 1);
  before.builder.SetMetadata({.comments = {"host a"}});
  after.Hit(after.Calls({"f"}), {}, after.Counts("cycles"), 1);
  after.builder.SetMetadata({.comments = {"host b"}});
  const Profile both = MakeDifferential(before.Make(), after.Make());
  EXPECT_THAT(both.metadata().comments, ElementsAre("before: host a", "after: host b"));
  EXPECT_EQ(both.metadata().default_value, "cycles after");
}

TEST(MakeDifferential, JoinsThreadsWhoseNamesDifferOnlyInNumbers) {
  ProfileMaker before, after;
  const EventId old_event = before.Counts("cycles");
  before.Hit(before.Calls({"f"}), before.Runs("worker-1", 7, 8), old_event, 1);
  before.Hit(before.Calls({"f"}), before.Runs("worker-2", 7, 9), old_event, 2);
  before.Hit(before.Calls({"f"}), before.Runs("python3", 5, 5), old_event, 3);
  const EventId new_event = after.Counts("cycles");
  after.Hit(after.Calls({"f"}), after.Runs("worker-12", 17, 18), new_event, 4);
  after.Hit(after.Calls({"f"}), after.Runs("python3", 15, 15), new_event, 5);
  const Profile both = MakeDifferential(before.Make(), after.Make());
  std::vector<std::string> lines;
  for (const Sample& sample : both.samples()) {
    const Thread& thread = both[sample.thread];
    EXPECT_EQ(thread.pid, kUnknownId);
    lines.push_back(std::string(both.text(thread.comm)) + " " + std::to_string(sample.count));
  }
  EXPECT_THAT(lines, ElementsAre("worker-# 3", "python3 3", "worker-# 4", "python3 5"));
}

TEST(MakeDifferential, HasTheFactsOfBothSides) {
  ProfileMaker before, after;
  before.builder.SetMetadata({.start_time_ns = 1'764'061'578'000'000'000,
                              .duration_ns = 2'030'000'000,
                              .comments = {"hostname: box"}});
  after.builder.SetMetadata({.duration_ns = 500'000'000});
  const Metadata metadata = MakeDifferential(before.Make(), after.Make()).metadata();
  EXPECT_THAT(metadata.comments,
              ElementsAre("before: hostname: box", "before: recorded: 2025-11-25 09:06:18 UTC",
                          "before: duration: 2.03 s", "after: duration: 0.5 s"));
  EXPECT_EQ(metadata.duration_ns, 0);
}

TEST(MakeDifferential, WorksWithoutSamples) {
  EXPECT_THAT(NamesOfPairs(MakeDifferential(Profile(), Profile())), IsEmpty());
  EXPECT_TRUE(CheckDifferential(Profile()));
  ProfileMaker after;
  after.Hit(after.Calls({"f"}), {}, after.Counts("cycles"), 1);
  const Profile both = MakeDifferential(Profile(), after.Make());
  EXPECT_THAT(NamesOfPairs(both), ElementsAre("cycles"));
}

TEST(EventPairsOf, AreThoseOfADifferentialFoldedFile) {
  ProfileMaker made;
  made.CountsPlainly("before");
  made.CountsPlainly("after");
  made.CountsPlainly("thereafter");
  made.CountsPlainly("hereafter before");
  EXPECT_THAT(NamesOfPairs(made.Make()), ElementsAre(""));
}

TEST(CheckDifferential, RefusesAProfileOfOneSide) {
  ProfileMaker made;
  made.Counts("cycles");
  const Status checked = CheckDifferential(made.Make());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace perftape::convert
