// SPDX-License-Identifier: Apache-2.0
#include "record/output/name_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::HasSubstr;

// 2015-12-25 20:10:33.70 UTC, the example of perf-record(1).
constexpr std::uint64_t kTime = 145107423370;

class NamePatterns : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

std::string NameOf(const char* output, std::uint64_t number = 7) {
  const auto pattern = NamePattern::Parse(output, "box");
  return pattern ? pattern->PathOf({.centiseconds = kTime, .number = number}).native()
                 : pattern.error().message;
}

bool Matches(const char* output, const char* name) {
  std::uint64_t number = 0;
  return NamePattern::Parse(output, "box").value().Matches(name, number);
}

TEST_F(NamePatterns, AppendTheTimeLikePerf) {
  EXPECT_EQ(NameOf("perf.data"), "perf.data.2015122520103370");
  EXPECT_EQ(NameOf("/var/tmp/a"), "/var/tmp/a.2015122520103370");
}

TEST_F(NamePatterns, ReplaceTimeNumberHostAndPercent) {
  EXPECT_EQ(NameOf("%h-%t.data"), "box-2015122520103370.data");
  EXPECT_EQ(NameOf("d/rec.%n"), "d/rec.7");
  EXPECT_EQ(NameOf("%n%%%n"), "7%7");
  EXPECT_EQ(NameOf("%h"), "box.2015122520103370");
}

TEST_F(NamePatterns, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(NameOf("a%s"), HasSubstr("% must be followed by"));
  EXPECT_THAT(NameOf("a%"), HasSubstr("% must be followed by"));
  EXPECT_THAT(NameOf("%t/a"), HasSubstr("not in directories"));
  EXPECT_THAT(NameOf("dir/"), HasSubstr("names no file"));
}

TEST_F(NamePatterns, MatchOnlyNamesThatTheyMake) {
  EXPECT_TRUE(Matches("p.data", "p.data.2015122520103370"));
  EXPECT_FALSE(Matches("p.data", "p.data"));
  EXPECT_FALSE(Matches("p.data", "p.data.old"));
  EXPECT_FALSE(Matches("p.data", "p.data.2015122520103370.old"));
  EXPECT_FALSE(Matches("p.data", "p.data.2015122520103370.Xa71bc"));
  EXPECT_FALSE(Matches("p.data", "p.data.201512252010337"));
  EXPECT_FALSE(Matches("p.data", "q.data.2015122520103370"));
  EXPECT_TRUE(Matches("r%n.data", "r12.data"));
  EXPECT_FALSE(Matches("r%n.data", "r012.data"));
  EXPECT_FALSE(Matches("r%n.data", "r.data"));
  EXPECT_FALSE(Matches("r%n.data", "r99999999999999999999999.data"));
}

TEST_F(NamePatterns, NeverGiveANameTwiceAtOneTime) {
  TempDir dir;
  FileNames names(NamePattern::Parse(dir.path() / "p", "box").value());
  const std::uint64_t now_ns = kTime * 10'000'000;
  EXPECT_EQ(names.Next(now_ns).filename(), "p.2015122520103370");
  EXPECT_EQ(names.Next(now_ns).filename(), "p.2015122520103371");
  EXPECT_EQ(names.Next(now_ns - 1'000'000'000).filename(), "p.2015122520103372");
}

TEST_F(NamePatterns, SkipNamesThatExist) {
  TempDir dir;
  dir.Write("p.2015122520103370", "");
  dir.Write("p.2015122520103371", "");
  FileNames names(NamePattern::Parse(dir.path() / "p", "box").value());
  EXPECT_EQ(names.Next(kTime * 10'000'000).filename(), "p.2015122520103372");
}

TEST_F(NamePatterns, ContinueNumbersAfterTheHighest) {
  TempDir dir;
  dir.Write("p.9", "");
  dir.Write("p.10", "");
  dir.Write("p.x", "");
  FileNames names(NamePattern::Parse(dir.path() / "p.%n", "box").value());
  EXPECT_EQ(names.Next(0).filename(), "p.11");
  dir.Write("p.12", "");
  EXPECT_EQ(names.Next(0).filename(), "p.13");
}

}  // namespace
}  // namespace perftape::record
