// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/record_arguments.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace perftape::perf_tool {
namespace {

using testing::ElementsAre;

using Words = std::vector<std::string>;

TEST(RecordArguments, HaveTheDefaultsOfPerf) {
  const Words all = RecordArguments(Words{"-a", "--", "sleep", "1"});
  ASSERT_EQ(all.size(), 9U);
  EXPECT_EQ(all[0], "-e");
  EXPECT_EQ(all[1], "cycles");
  EXPECT_EQ(all[2], "-F");
  EXPECT_EQ(Words(all.begin() + 4, all.end()), (Words{"--no-callgraph", "-a", "--", "sleep", "1"}));
}

TEST(RecordArguments, LeaveOutWhatIsGiven) {
  EXPECT_THAT(RecordArguments(Words{"-e", "cpu-clock", "-F", "99", "-g", "true"}),
              ElementsAre("-e", "cpu-clock", "-F", "99", "-g", "true"));
  EXPECT_THAT(RecordArguments(Words{"-e", "cpu-clock", "-c", "1000", "--call-graph", "fp", "true"}),
              ElementsAre("-e", "cpu-clock", "-c", "1000", "--call-graph", "fp", "true"));
}

TEST(RecordArguments, IgnoreTheOptionsOfTheCommand) {
  const Words all = RecordArguments(Words{"-e", "cpu-clock", "-F", "99", "grep", "-e", "a", "-g"});
  EXPECT_THAT(
      all, ElementsAre("--no-callgraph", "-e", "cpu-clock", "-F", "99", "grep", "-e", "a", "-g"));
}

TEST(RecordArguments, AreUnchangedIfTheyAreWrong) {
  EXPECT_THAT(RecordArguments(Words{"--nonsense"}), ElementsAre("--nonsense"));
  EXPECT_THAT(RecordArguments(Words{"--help"}), ElementsAre("--help"));
}

}  // namespace
}  // namespace perftape::perf_tool
