// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/perf_habits.h"

#include <gmock/gmock.h>

#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct PerfPlan : BaseOptions {
  std::vector<std::string> freqs;
  std::string output, duration;
  bool all_cpus = false, all_user = false, no_inherit = false;
};

constexpr Option kOwnRows[] = {
    {.name = "duration", .argument = "TIME", .help = "x", .into = Store<&PerfPlan::duration>},
    AsInPerf({.name = "freq",
              .letter = 'F',
              .argument = "HZ",
              .help = "samples a second",
              .into = Store<&PerfPlan::freqs>}),
    AsInPerf({.name = "output",
              .letter = 'o',
              .argument = "FILE",
              .help = "x",
              .completion = Completion::kFile,
              .into = Store<&PerfPlan::output>}),
    AsInPerf({.name = "all-cpus",
              .letter = 'a',
              .help = "everything",
              .into = Set<&PerfPlan::all_cpus>,
              .reason = "the default"}),
};
constexpr Option kDoneRows[] = {
    {.name = "all-user", .help = "only user code", .into = Set<&PerfPlan::all_user>},
    {.name = "no-inherit",
     .letter = 'i',
     .help = "no children",
     .into = Set<&PerfPlan::no_inherit>},
};
constexpr Option kAlreadySoRows[] = {
    {.name = "timestamp", .letter = 'T', .reason = "samples have their time"},
    {.name = "timestamp-boundary", .reason = "the file has it"},
};
constexpr Option kRefusedRows[] = {
    {.name = "aio",
     .argument = "N",
     .argument_is_optional = true,
     .reason = "perf's own: use --ring | * or 'x --y'"},
    {.name = "weight", .letter = 'W', .reason = "there is none"},
};
constexpr auto kOptions =
    Table(InGroup(Group::kOutput, kOwnRows), OfPerf(Verdict::kDone, kDoneRows),
          OfPerf(Verdict::kAlreadySo, kAlreadySoRows), OfPerf(Verdict::kRefused, kRefusedRows));
constexpr ForeignOption kForeign[] = {{.name = "time", .instead = "use --duration"}};
constexpr Command kTool = {.name = "perftape-x",
                           .purpose = "tests",
                           .operands = "COMMAND",
                           .options = kOptions,
                           .order = Order::kOptionsFirst,
                           .foreign = kForeign,
                           .habits = Habits::kPerf};

Result<PerfPlan> ParseWords(std::vector<std::string> words) {
  return Parse<PerfPlan>(kTool, words);
}

std::string ErrorOf(std::vector<std::string> words) {
  const Result<PerfPlan> parsed = ParseWords(std::move(words));
  return parsed ? "no error" : parsed.error().message;
}

TEST(PerfHabits, TheBeginningOfANameIsEnough) {
  const auto parsed = ParseWords({"--fr", "99", "--out=x", "--all-u", "--no-inh", "ls", "--fr"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->freqs, ElementsAre("99"));
  EXPECT_EQ(parsed->output, "x");
  EXPECT_TRUE(parsed->all_user);
  EXPECT_TRUE(parsed->no_inherit);
  EXPECT_THAT(parsed->operands, ElementsAre("ls", "--fr"));
}

TEST(PerfHabits, TheBeginningOfSeveralNamesIsAnError) {
  EXPECT_EQ(ErrorOf({"--all"}), "--all is ambiguous: use --all-cpus or --all-user");
  EXPECT_EQ(ErrorOf({"--no-a"}),
            "--no-a is ambiguous: use --no-aio, --no-all-cpus or "
            "--no-all-user");
  EXPECT_THAT(ErrorOf({"--n=1"}), HasSubstr(" more"));
  EXPECT_EQ(ErrorOf({"--timestamp"}), "no error") << "a whole name";
}

TEST(PerfHabits, OwnOptionsAndThoseOfOtherToolsNeedTheirWholeName) {
  EXPECT_EQ(ErrorOf({"--dur", "1"}), "unknown option --dur; did you mean --duration?");
  EXPECT_EQ(ErrorOf({"--time", "1"}), "unknown option --time: use --duration");
  EXPECT_EQ(ErrorOf({"--no-duration"}), "unknown option --no-duration");
  EXPECT_EQ(ErrorOf({"--"}), "no error");
}

TEST(PerfHabits, AnOptionCanBeTakenBack) {
  const auto parsed =
      ParseWords({"-a", "-F", "1", "-i", "--no-all-cpus", "--no-freq", "--inherit"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_FALSE(parsed->all_cpus);
  EXPECT_FALSE(parsed->no_inherit);
  EXPECT_THAT(parsed->freqs, IsEmpty());
  EXPECT_TRUE(ParseWords({"--no-all-cpus", "-a"})->all_cpus);
  EXPECT_EQ(ErrorOf({"--no-all-cpus=1"}), "no-all-cpus takes no argument");
}

TEST(PerfHabits, ARefusedOptionThatWasTakenBackIsNoError) {
  EXPECT_EQ(ErrorOf({"--aio", "--no-aio", "--no-weight"}), "no error");
}

TEST(PerfHabits, BlanksBeforeANumberInTheSameWordDoNotCount) {
  EXPECT_THAT(ParseWords({"-F 99"})->freqs, ElementsAre("99"));
  EXPECT_THAT(ParseWords({"--freq= 99"})->freqs, ElementsAre("99"));
  EXPECT_EQ(ParseWords({"-o x"})->output, " x") << "a file can have such a name";
  EXPECT_EQ(ParseWords({"--duration= 1"})->duration, " 1");
}

TEST(Verdicts, ARefusedOptionSaysWhy) {
  EXPECT_EQ(ErrorOf({"-aW"}), "-W is not supported: there is none");
  EXPECT_EQ(ErrorOf({"--aio=4"}), "--aio is not supported: perf's own: use --ring | * or 'x --y'");
  EXPECT_TRUE(ParseWords({"-W", "--help"})->help);
}

TEST(Verdicts, AnOptionThatChangesNothingSaysWhy) {
  const auto parsed = ParseWords({"-aT", "--timestamp-boundary"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(AlreadySoTexts(*parsed),
              ElementsAre("-T: samples have their time", "--timestamp-boundary: the file has it"));
}

TEST(Verdicts, AreInTheHelpOfAllOptions) {
  const std::string text = HelpText(kTool, HelpDepth::kAll);
  EXPECT_THAT(text, HasSubstr("\nMore options of perf:\n"));
  EXPECT_THAT(text, HasSubstr("  -T, --timestamp           samples have their time\n"));
  EXPECT_THAT(text, HasSubstr("      --aio[=N]             not supported: perf's own: use"));
  EXPECT_THAT(HelpText(kTool, HelpDepth::kUsual), Not(HasSubstr("--aio")));
}

TEST(Verdicts, RefusedOptionsAreNotCompleted) {
  for (const std::string_view shell : {"bash", "zsh", "fish"}) {
    const auto script = CompletionScript(kTool, shell);
    ASSERT_TRUE(script);
    EXPECT_THAT(*script, Not(HasSubstr("weight"))) << shell;
    EXPECT_THAT(*script, HasSubstr("timestamp")) << shell;
  }
}

TEST(Verdicts, AreATableInTheManPage) {
  const auto page = ManPage(kTool,
                            "{--duration}\n{--freq}\n{--output}\n{--all-cpus}\n{--help}\n"
                            "{--help-all}\n{--version}\n{--completion}\n# COMPATIBILITY\n\n"
                            "{compatibility}\n");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, HasSubstr("| `-F`, `--freq` | works |  |\n"));
  EXPECT_THAT(*page, HasSubstr("| `-a`, `--all-cpus` | works | the default |\n"));
  EXPECT_THAT(*page, HasSubstr("| `--all-user` | works | only user code |\n"));
  EXPECT_THAT(*page, HasSubstr("| `-T`, `--timestamp` | already so | samples have their time |\n"));
  EXPECT_THAT(*page,
              HasSubstr("| `--aio` | refused | perf's own: use \\--ring \\| \\* or `x --y` |\n"));
  EXPECT_THAT(*page, Not(HasSubstr("`--duration`")));
}

}  // namespace
}  // namespace perftape::cli
