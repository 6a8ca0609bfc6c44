// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/help.h"

#include <gmock/gmock.h>

#include "tools/common/cli/completion.h"
#include "tools/common/cli/console.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Plan : BaseOptions {
  int count = 0;
};
constexpr Choice<int> kCounts[] = {{"samples", 0, "default"}, {"period", 1}};

constexpr Option kOptions[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "where the result goes, which is a sentence that needs more than one line of a "
             "terminal with eighty columns",
     .completion = Completion::kFile,
     .into = Ignore},
    {.name = "values",
     .argument = "KIND",
     .help = "count {choices}",
     .into = StoreChoice<kCounts, &Plan::count>},
    {.letter = 'g', .help = "call chains", .into = Ignore},
    {.name = "level",
     .letter = 'z',
     .argument = "LEVEL",
     .help = "how small",
     .argument_is_optional = true,
     .into = Ignore},
};
constexpr Command kCommand = {
    .name = "perftape-x", .purpose = "test a tool", .operands = "FILE", .options = kOptions};

TEST(HelpText, BeginsWithHowTheToolIsCalled) {
  EXPECT_TRUE(HelpText(kCommand).starts_with("Usage: perftape-x [OPTION...] FILE\n"));
}

TEST(HelpText, ShowsEachOptionWithItsArgument) {
  const std::string text = HelpText(kCommand);
  EXPECT_THAT(text, HasSubstr("  -o, --output FILE"));
  EXPECT_THAT(text, HasSubstr("      --values KIND         count samples (default) or period\n"));
  EXPECT_THAT(text, HasSubstr("\n  -g  "));
  EXPECT_THAT(text, HasSubstr("  -z, --level[=LEVEL]"));
  EXPECT_THAT(text, HasSubstr("  -h, --help"));
}

TEST(HelpText, StaysWithinEightyColumns) {
  std::string text = HelpText(kCommand);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 80) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(CompletionScript, OffersEveryOptionAndTheChoicesOfOne) {
  const auto script = CompletionScript(kCommand, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script,
              HasSubstr("-o --output --values -g -z --level -h --help --version --completion"));
  EXPECT_THAT(*script, HasSubstr("--values)\n      mapfile -t COMPREPLY < <(compgen -P \"$prefix\" "
                                 "-W \"samples period\" -- \"$word\")\n      return ;;\n"));
  EXPECT_THAT(*script, HasSubstr("complete -F _perftape_x perftape-x"));
}

// The shell must not add a slash to a verb or option if a directory has the same name, and must
// keep blanks in file names.
TEST(CompletionScript, MarksFilesAloneAsFiles) {
  const auto script = CompletionScript(kCommand, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("-o|--output)\n      mapfile -t COMPREPLY < <(compgen -P "
                                 "\"$prefix\" -f -- \"$word\")\n      compopt -o filenames"));
  EXPECT_THAT(*script, Not(HasSubstr("complete -o filenames")));
}

TEST(CompletionScript, TreatsWordsAfterOptionalArgumentsAsOperands) {
  const auto script = CompletionScript(kCommand, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, Not(HasSubstr("--level)")));
}

TEST(CompletionScript, ReportsAnUnknownShell) {
  const auto script = CompletionScript(kCommand, "tcsh");
  ASSERT_FALSE(script);
  EXPECT_EQ(script.error().message, "unknown value 'tcsh' for --completion: choose bash");
}

constexpr Option kVerbOptions[] = {{.name = "json", .help = "for machines", .into = Ignore}};
constexpr Command kVerbCommand = {
    .name = "perftape-y list", .purpose = "List.", .operands = "FILE", .options = kVerbOptions};
constexpr Verb kVerbs[] = {
    {"list", "what there is", [] -> const Command& { return kVerbCommand; }, nullptr}};
constexpr Command kWithVerbs = {
    .name = "perftape-y", .purpose = "y", .operands = "VERB", .options = {}, .verbs = kVerbs};

TEST(HelpText, ListsTheVerbs) {
  EXPECT_THAT(HelpText(kWithVerbs), HasSubstr("\nVerbs:\n  list      what there is\n"));
}

TEST(HelpText, OfAVerbHasNoOptionsOfTheWholeTool) {
  const std::string text = HelpText(kVerbCommand);
  EXPECT_THAT(text, HasSubstr("Usage: perftape-y list [OPTION...] FILE\n"));
  EXPECT_THAT(text, HasSubstr("--help"));
  EXPECT_THAT(text, Not(HasSubstr("--version")));
}

TEST(CompletionScript, OffersVerbsAndBehindAVerbItsOptions) {
  const auto script = CompletionScript(kWithVerbs, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("-W \"help list\" -- \"$word\")"));
  EXPECT_THAT(*script, HasSubstr("      list)\n"));
  EXPECT_THAT(*script, HasSubstr("-W \"--json -h --help\""));
}

constexpr Verb kPrograms[] = {{"run", "a program of its own"}};
constexpr Command kWithPrograms = {.name = "perftape-z",
                                   .purpose = "run programs",
                                   .operands = "VERB",
                                   .options = {},
                                   .verbs = kPrograms};

TEST(CompletionScript, AsksAProgramOfItsOwnForItsCompletion) {
  const auto script = CompletionScript(kWithPrograms, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("      run)\n        declare -F _perftape_z_run > /dev/null ||"));
}

TEST(UnknownVerbText, NamesTheVerbThatMayBeMeant) {
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "ru"), "unknown verb 'ru'; did you mean run?");
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "walk"), "unknown verb 'walk'");
}

}  // namespace
}  // namespace perftape::cli
