// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/commands.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tools/perf/command_line.h"

namespace perftape::perf_tool {
namespace {

using testing::HasSubstr;

TEST(PerfCommands, AreInAlphabeticalOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(PerfCommands(), {}, &PerfCommand::name));
}

TEST(PerfCommands, HaveAVerbOrASentence) {
  const auto verbs = PerfCommandLine().verbs;
  for (const PerfCommand& command : PerfCommands()) {
    SCOPED_TRACE(command.name);
    if (command.run_by == RunBy::kVerb && command.name != "help") {
      EXPECT_NE(std::ranges::find(verbs, command.name, &cli::Verb::name), verbs.end());
    } else if (command.run_by == RunBy::kNothing) {
      EXPECT_FALSE(command.instead.empty());
      EXPECT_FALSE(command.instead.ends_with('.'));
    }
  }
}

TEST(PerfCommands, AreFoundByName) {
  ASSERT_NE(FindPerfCommand("evlist"), nullptr);
  EXPECT_EQ(FindPerfCommand("evlist")->run_by, RunBy::kVerb);
  EXPECT_EQ(FindPerfCommand("evlis"), nullptr);
}

TEST(PerfCommands, AreSuggestedForAMistypedOne) {
  EXPECT_EQ(UnknownCommandText("evlst"), "unknown command 'evlst'; did you mean evlist?");
  EXPECT_EQ(UnknownCommandText("xyzxyz"), "unknown command 'xyzxyz'");
}

TEST(PerfCommands, AreSuggestedForCommandsOfOtherProfilers) {
  EXPECT_THAT(UnknownCommandText("load"), HasSubstr("perftape"));
  EXPECT_THAT(std::string(InsteadOfForeignVerb("offcpu")), HasSubstr("-e offcpu"));
  EXPECT_EQ(InsteadOfForeignVerb("evlist"), "");
}

TEST(PerfCommands, AreDefinitionsInTheManPage) {
  EXPECT_THAT(CommandsMarkdown(), HasSubstr("\n**record**\n:   Runs **perftape-record**(1).\n\n"));
  EXPECT_THAT(CommandsMarkdown(), HasSubstr("\n**evlist**\n:   Works as in perf.\n\n"));
}

}  // namespace
}  // namespace perftape::perf_tool
