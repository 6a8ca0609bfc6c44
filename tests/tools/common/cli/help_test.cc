// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/help.h"

#include <gmock/gmock.h>

#include "tests/tools/common/cli/example_commands.h"
#include "tools/common/cli/console.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(HelpText, ListsTheVerbs) {
  EXPECT_THAT(HelpText(kWithVerbs), HasSubstr("\nVerbs:\n  list      what there is\n"));
}

TEST(HelpText, OfAVerbHasNoOptionsOfTheWholeTool) {
  const std::string text = HelpText(kVerbCommand);
  EXPECT_THAT(text, HasSubstr("Usage: perftape-y list [OPTION...] FILE\n"));
  EXPECT_THAT(text, HasSubstr("--help"));
  EXPECT_THAT(text, Not(HasSubstr("--version")));
}

TEST(UnknownVerbText, NamesTheVerbThatMayBeMeant) {
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "ru"), "unknown verb 'ru'; did you mean run?");
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "walk"), "unknown verb 'walk'");
}

}  // namespace
}  // namespace perftape::cli
