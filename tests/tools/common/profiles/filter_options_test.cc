// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/filter_options.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Option kEventRows[] = {EventRow("keep only samples of these events")};
constexpr auto kOptions =
    Table(InGroup(Group::kSelection, kEventRows), InGroup(Group::kSelection, kFilterRows));
constexpr Command kCommand = {.name = "filter", .purpose = "", .operands = "", .options = kOptions};

Result<convert::FilterOptions> FilterOfWords(std::vector<std::string> words) {
  TRY_ASSIGN(FilterPlan plan, Parse<FilterPlan>(kCommand, words));
  return std::move(plan.filter);
}

auto Refuses(const char* message) {
  return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
}

TEST(FilterOf, AsksForNothingWithoutOptions) {
  EXPECT_FALSE(FilterOfWords({"in"})->changes_anything());
}

TEST(FilterOf, JoinsListsAndRepetitions) {
  const auto filter = FilterOfWords(
      {"--comm=a,b*", "--comm", "c", "--pid=1,2", "--pid=3", "--tid=4", "-C", "0-2,5"});
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->comms.Match("c"));
  EXPECT_TRUE(filter->comms.Match("bee"));
  EXPECT_THAT(filter->pids, ElementsAre(1, 2, 3));
  EXPECT_THAT(filter->tids, ElementsAre(4));
  EXPECT_THAT(filter->cpus, ElementsAre(0, 1, 2, 5));
  EXPECT_TRUE(filter->needs_cpu());
  EXPECT_FALSE(filter->needs_cgroup());
}

TEST(FilterOf, RefusesWhatIsNoValue) {
  EXPECT_THAT(FilterOfWords({"--pid=1,x"}), Refuses("--pid: 'x' is not a whole number"));
  EXPECT_THAT(FilterOfWords({"--focus=["}), Refuses("--focus: '[' is not a regular expression"));
  EXPECT_THAT(FilterOfWords({"--max-depth=0"}),
              Refuses("--max-depth: 0 is out of range: use 1 to"));
  EXPECT_THAT(FilterOfWords({"--min-percent=101"}), Refuses("use a number from 0 to 100"));
  EXPECT_THAT(FilterOfWords({"--min-percent=nan"}), Refuses("use a number from 0 to 100"));
  EXPECT_THAT(FilterOfWords({"--no-user", "--no-kernel"}), Refuses("cannot be combined"));
}

TEST(OptionOf, NamesTheOptionOfEachFilter) {
  EXPECT_EQ(OptionOf(kCommand, convert::Filter::kEvent), "--event");
  EXPECT_EQ(OptionOf(kCommand, convert::Filter::kMinPercent), "--min-percent");
  for (std::size_t i = 0; i < convert::kFilters; ++i) {
    EXPECT_TRUE(OptionOf(kCommand, convert::Filter(i)).starts_with("--")) << i;
  }
}

TEST(ParseTimeRange, AcceptsSecondsPercentAndMissingEnds) {
  EXPECT_EQ(ParseTimeRange("--time", "2.5,10")->from->nanoseconds, 2'500'000'000);
  EXPECT_EQ(ParseTimeRange("--time", "2.5,10")->to->nanoseconds, 10'000'000'000);
  EXPECT_EQ(ParseTimeRange("--time", "250ms,1m")->from->nanoseconds, 250'000'000);
  EXPECT_EQ(ParseTimeRange("--time", "250ms,1m")->to->nanoseconds, 60'000'000'000);
  EXPECT_EQ(ParseTimeRange("--time", "0,4711.123456")->from->nanoseconds, 0);
  EXPECT_EQ(ParseTimeRange("--time", "0,4711.123456")->to->nanoseconds, 4'711'123'456'000);
  EXPECT_EQ(ParseTimeRange("--time", "10%,")->from->percent, 10.0);
  EXPECT_FALSE(ParseTimeRange("--time", "10%,")->to);
  EXPECT_FALSE(ParseTimeRange("--time", ",5")->from);
}

TEST(ParseTimeRange, RefusesWhatIsNoRange) {
  EXPECT_THAT(ParseTimeRange("--time", "5"), Refuses("'5' is not FROM,TO"));
  EXPECT_THAT(ParseTimeRange("--time", ","), Refuses("has neither FROM nor TO"));
  EXPECT_THAT(ParseTimeRange("--time", "10%,5%"), Refuses("'10%,5%' ends before it begins"));
  EXPECT_THAT(ParseTimeRange("--time", "2,1.5"), Refuses("'2,1.5' ends before it begins"));
  EXPECT_TRUE(ParseTimeRange("--time", "10%,10%"));
  EXPECT_TRUE(ParseTimeRange("--time", "10%,5"));  // only the recording shows which is first
  EXPECT_THAT(ParseTimeRange("--time", "x,5"), Refuses("'x' is neither a time nor a percentage"));
  EXPECT_THAT(ParseTimeRange("--time", "1,101%"), Refuses("'101%' is neither"));
  EXPECT_THAT(ParseTimeRange("--time", "-1,5"), Refuses("'-1' is neither"));
  EXPECT_THAT(ParseTimeRange("--time", "inf,5"), Refuses("'inf' is neither"));
}

TEST(NoEventLine, TellsEventsWithoutSamplesFromOthers) {
  const convert::Globs wanted("page-*");
  EXPECT_EQ(NoEventLine(wanted, {"cpu-clock", "offcpu-time"}, {"offcpu-time", "cpu-clock"}),
            "--event: no such event: choose cpu-clock, offcpu-time");
  EXPECT_EQ(NoEventLine(wanted, {"cpu-clock"}, {"page-faults", "cpu-clock", "page-faults"}),
            "--event: no samples of page-faults were read: choose cpu-clock");
}

}  // namespace
}  // namespace perftape::cli
