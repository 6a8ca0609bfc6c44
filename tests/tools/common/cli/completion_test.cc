// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/completion.h"

#include <gmock/gmock.h>

#include "tests/tools/common/cli/example_commands.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CompletionScript, OffersEveryOptionAndTheChoicesOfOne) {
  const auto script = CompletionScript(kCommand, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(
      *script,
      HasSubstr(
          "-o --output --values --time -g -z --level -h --help --help-all --version --completion"));
  EXPECT_THAT(*script, HasSubstr("--values)\n      mapfile -t COMPREPLY < <(compgen -P \"$prefix\" "
                                 "-W \"samples period\" -- \"$word\")\n      return ;;\n"));
  EXPECT_THAT(*script, HasSubstr("complete -F _perftape_x perftape-x"));
}

// The shell must not add a slash to a verb or option if a directory has the same name, and must
// keep blanks in file names.
TEST(CompletionScript, MarksOnlyFilesAsFiles) {
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
  EXPECT_EQ(script.error().message,
            "unknown value 'tcsh' for --completion: choose bash, zsh or fish");
}

TEST(CompletionScript, OffersVerbsAndTheirOptions) {
  const auto script = CompletionScript(kWithVerbs, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("-W \"help list\" -- \"$word\")"));
  EXPECT_THAT(*script, HasSubstr("      list)\n"));
  EXPECT_THAT(*script, HasSubstr("-W \"--json -h --help --help-all\""));
}

TEST(CompletionScript, AsksAProgramOfItsOwnForItsCompletion) {
  const auto script = CompletionScript(kWithPrograms, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("      run)\n        declare -F _perftape_z_run > /dev/null ||"));
}

TEST(CompletionScript, OfEachShellHasEachSpellingOfEachOption) {
  for (const std::string_view shell : {"bash", "zsh", "fish"}) {
    const auto script = CompletionScript(kCommand, shell);
    ASSERT_TRUE(script);
    for (const Option& option : AllOptions(kCommand)) {
      for (const std::string& spelling : option.spellings()) {
        const bool is_fish = shell == "fish";
        const bool is_name = spelling.starts_with("--");
        const std::string word =
            is_fish ? (is_name ? " -l " : " -s ") + spelling.substr(is_name ? 2 : 1) : spelling;
        EXPECT_THAT(*script, HasSubstr(word)) << shell;
      }
    }
  }
}

TEST(CompletionScript, OfZshHasArgumentsAndTheirChoices) {
  const auto script = CompletionScript(kCommand, "zsh");
  ASSERT_TRUE(script);
  EXPECT_TRUE(script->starts_with("#compdef perftape-x\n"));
  EXPECT_THAT(*script, HasSubstr("'(--values)--values=[count]:KIND:(samples period)'"));
  EXPECT_THAT(*script, HasSubstr("'(-o --output)-o+[where the result goes, which is"));
  EXPECT_THAT(*script, HasSubstr("terminal with eighty columns]:FILE:_files'"));
  EXPECT_THAT(*script, HasSubstr("'(-z --level)--level=-[how small]::LEVEL: '"));
}

TEST(CompletionScript, OfFishHasArgumentsAndTheirChoices) {
  const auto script = CompletionScript(kCommand, "fish");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script,
              HasSubstr("complete -c perftape-x -l values -r -f -a 'samples period' -d 'count'\n"));
  EXPECT_THAT(*script, HasSubstr("complete -c perftape-x -s o -l output -r -F -d 'where"));
  EXPECT_THAT(*script, HasSubstr("complete -c perftape-x -s z -l level -f -d 'how small'\n"));
}

TEST(CompletionScript, OffersTopicsAfterHelp) {
  for (const std::string_view shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(CompletionScript(kWithPrograms, shell).value_or(""), HasSubstr("units")) << shell;
  }
}

TEST(ShortHelp, HasNoChoices) {
  EXPECT_EQ(ShortHelp({.help = "record these events: {choices}, a probe; default cpu-clock"}),
            "record these events");
  EXPECT_EQ(ShortHelp({.help = "print a script for SHELL ({choices}) and exit"}),
            "print a script for SHELL and exit");
  EXPECT_EQ(ShortHelp({.help = "add labels: {choices} (a field), or several"}), "add labels");
  EXPECT_EQ(ShortHelp({.help = "print versions; FORMAT is {choices}"}), "print versions");
  EXPECT_EQ(ShortHelp({.help = "print all"}), "print all");
}

}  // namespace
}  // namespace perftape::cli
