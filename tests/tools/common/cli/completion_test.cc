// SPDX-License-Identifier: Apache-2.0
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
      HasSubstr("-o --output --values --time -g -z --level -h --help --version --completion"));
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
  EXPECT_EQ(script.error().message, "unknown value 'tcsh' for --completion: choose bash");
}

TEST(CompletionScript, OffersVerbsAndTheirOptions) {
  const auto script = CompletionScript(kWithVerbs, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("-W \"help list\" -- \"$word\")"));
  EXPECT_THAT(*script, HasSubstr("      list)\n"));
  EXPECT_THAT(*script, HasSubstr("-W \"--json -h --help\""));
}

TEST(CompletionScript, AsksAProgramOfItsOwnForItsCompletion) {
  const auto script = CompletionScript(kWithPrograms, "bash");
  ASSERT_TRUE(script);
  EXPECT_THAT(*script, HasSubstr("      run)\n        declare -F _perftape_z_run > /dev/null ||"));
}

}  // namespace
}  // namespace perftape::cli
