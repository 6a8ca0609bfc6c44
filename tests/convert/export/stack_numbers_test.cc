// SPDX-License-Identifier: Apache-2.0
#include "convert/export/stack_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;

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
