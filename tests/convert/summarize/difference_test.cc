// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/difference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
using testing::ElementsAre;
using testing::IsEmpty;

// Returns a program whose functions have these samples, in a binary at this address.
Profile Program(std::int64_t sort, std::int64_t parse, std::uint64_t offset = 0) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const MappingId app = made.Map("/build/7/app");
  const LocationId main = made.Frame(app, offset + 1, {"main"});
  const LocationId in_sort = made.Frame(app, offset + 2, {"sort"});
  const LocationId in_parse = made.Frame(app, offset + 3, {"parse"});
  made.Hit(made.Calls({main, in_sort}), made.Runs("app"), event, sort, 10 * sort);
  made.Hit(made.Calls({main, in_parse}), made.Runs("app"), event, parse, 10 * parse);
  return made.Make();
}

// Returns "sort 0.20 -> 0.25" for each function, by self.
std::vector<std::string> Texts(const EventDifference& event) {
  std::vector<std::string> texts;
  for (const FunctionChange& function : event.functions) {
    texts.push_back(fmt::format("{} {:.2f} -> {:.2f}", function.function,
                                function.self.before.value, function.self.after.value));
  }
  return texts;
}

TEST(Compare, MatchesFunctionsOfTwoBuildsByName) {
  const std::vector<Profile> before = {Program(20, 80)};
  const std::vector<Profile> after = {Program(30, 90, 0x500)};

  const auto events = Compare(before, after, {});

  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].event, "cycles");
  EXPECT_EQ(events[0].samples_before, 100);
  EXPECT_EQ(events[0].samples_after, 120);
  EXPECT_THAT(Texts(events[0]),
              ElementsAre("parse 0.80 -> 0.75", "sort 0.20 -> 0.25", "main 0.00 -> 0.00"));
  EXPECT_EQ(events[0].functions[0].binary, "app");
  EXPECT_DOUBLE_EQ(events[0].functions[2].inclusive.before.value, 1);
  EXPECT_THAT(events[0].stacks, IsEmpty());
}

// Returns a program with "main", code without a name, and `functions`, in a binary of this path.
Profile ProgramAt(std::string_view path, std::initializer_list<std::string_view> functions) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const MappingId app = made.Map(path);
  made.Hit(made.Calls({made.Frame(app, 1, {"main"})}), {}, event, 10, 10);
  made.Hit(made.Calls({made.Frame(app, 2)}), {}, event, 10, 10);
  std::uint64_t offset = 3;
  for (const std::string_view function : functions) {
    made.Hit(made.Calls({made.Frame(app, offset++, {function})}), {}, event, 10, 10);
  }
  return made.Make();
}

TEST(Compare, PairsTheFunctionsOfARenamedBinary) {
  const std::vector<Profile> before = {ProgramAt("/bin/app-1.0", {"work", "more"})};
  const std::vector<Profile> after = {ProgramAt("/bin/app-1.1", {"work", "more"})};

  const auto events = Compare(before, after, {.stacks = true});

  EXPECT_THAT(events[0].renamed, ElementsAre(testing::Pair("app-1.0", "app-1.1")));
  EXPECT_THAT(Texts(events[0]), ElementsAre("[app-1.1] 0.25 -> 0.25", "main 0.25 -> 0.25",
                                            "more 0.25 -> 0.25", "work 0.25 -> 0.25"));
  EXPECT_EQ(events[0].functions[0].binary, "app-1.1");
  EXPECT_EQ(events[0].stacks.size(), 4U);
}

TEST(Compare, KeepsProgramsApartThatShareOnlyMain) {
  const std::vector<Profile> before = {ProgramAt("/bin/ls", {"list", "sort", "print"})};
  const std::vector<Profile> after = {ProgramAt("/bin/cat", {"copy", "read"})};
  EXPECT_THAT(Compare(before, after, {})[0].renamed, IsEmpty());
}

TEST(Compare, ComparesPeriodsIfItIsAsked) {
  const std::vector<Profile> before = {Program(20, 80)};
  const std::vector<Profile> after = {Program(30, 80)};

  const auto events = Compare(before, after, {.measure = Measure::kWeight});

  EXPECT_THAT(Texts(events[0]),
              ElementsAre("sort 200.00 -> 300.00", "main 0.00 -> 0.00", "parse 800.00 -> 800.00"));
}

TEST(Compare, AveragesSeveralRecordings) {
  const std::vector<Profile> before = {Program(10, 90), Program(30, 70)};
  const std::vector<Profile> after = {Program(20, 80)};

  const auto events = Compare(before, after, {});

  const auto& functions = events[0].functions;
  const Change& sort = std::ranges::find(functions, "sort", &FunctionChange::function)->self;
  EXPECT_DOUBLE_EQ(sort.before.value, 0.2);
  EXPECT_DOUBLE_EQ(sort.before.variance, 0.01);  // 0.02 / 2
  // The samples explain (0.1 * 0.9 + 0.3 * 0.7) / 100 / 4 = 0.00075 of it.
  EXPECT_NEAR(sort.before.freedom, 1 / (0.925 * 0.925), 1e-9);
}

TEST(Compare, ShowsNewAndRemovedFunctionsAndStacks) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "fresh"}), made.Runs("app"), made.Counts("cycles"), 5, 5);
  const std::vector<Profile> before = {Program(1, 1)};
  const std::vector<Profile> after = {made.Make()};

  const auto events = Compare(before, after, {.stacks = true});

  const StackChange& largest = events[0].stacks[0];
  EXPECT_THAT(largest.frames, ElementsAre("fresh", "main"));
  EXPECT_EQ(largest.self.before.value, 0);
  EXPECT_EQ(largest.self.after.value, 1);
}

TEST(Compare, OfNothingIsEmpty) {
  EXPECT_THAT(Compare({}, {}, {}), IsEmpty());
}

}  // namespace
}  // namespace perftape::summarize
