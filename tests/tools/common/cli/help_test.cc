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
  EXPECT_TRUE(
      HelpText(kCommand, HelpDepth::kAll).starts_with("Usage: perftape-x [OPTION...] FILE\n"));
}

TEST(HelpText, HasThreeExamplesBeforeTheOptions) {
  const std::string text = HelpText(kCommand, HelpDepth::kUsual);
  EXPECT_THAT(text, HasSubstr("\nExamples:\n  perftape-x a                  one\n"
                              "  perftape-x b --values period  two, with"));
  EXPECT_LT(text.find("three"), text.find("Output:"));
  EXPECT_THAT(text, Not(HasSubstr("perftape-x d")));
  EXPECT_THAT(HelpText(kCommand, HelpDepth::kAll), HasSubstr("perftape-x d"));
}

TEST(HelpText, ShowsOptionsInGroups) {
  const std::string text = HelpText(kCommand, HelpDepth::kUsual);
  EXPECT_THAT(text, HasSubstr("\nOutput:\n  -o, --output FILE"));
  EXPECT_THAT(text, HasSubstr("\nOther options:\n  -g  "));
}

TEST(HelpText, HasOneHeadingForOneGroup) {
  EXPECT_THAT(HelpText(kVerbCommand, HelpDepth::kUsual), HasSubstr("\nOptions:\n      --json"));
}

TEST(HelpText, ShowsRareOptionsOnRequest) {
  const std::string text = HelpText(kCommand, HelpDepth::kUsual);
  EXPECT_THAT(text, Not(HasSubstr("--time")));
  EXPECT_THAT(text, HasSubstr("8 of 9 options: 'perftape-x --help-all' prints the others, too.\n"));
  EXPECT_THAT(HelpText(kCommand, HelpDepth::kAll), HasSubstr("--time FROM,TO"));
  EXPECT_THAT(HelpText(kCommand, HelpDepth::kAll), Not(HasSubstr("of 9 options")));
}

TEST(HelpText, ShowsEachOptionWithItsArgument) {
  const std::string text = HelpText(kCommand, HelpDepth::kAll);
  EXPECT_THAT(text, HasSubstr("  -o, --output FILE"));
  EXPECT_THAT(text, HasSubstr("      --values KIND         count samples (default) or period\n"));
  EXPECT_THAT(text, HasSubstr("\n  -g  "));
  EXPECT_THAT(text, HasSubstr("  -z, --level[=LEVEL]"));
  EXPECT_THAT(text, HasSubstr("  -h, --help"));
}

TEST(HelpText, StaysWithinEightyColumns) {
  std::string text = HelpText(kCommand, HelpDepth::kAll);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 80) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(HelpText, ListsTheVerbs) {
  EXPECT_THAT(HelpText(kWithVerbs, HelpDepth::kUsual),
              HasSubstr("\nVerbs:\n  list         what there is\n"));
}

TEST(HelpText, OfAVerbHasNoOptionsOfTheWholeTool) {
  const std::string text = HelpText(kVerbCommand, HelpDepth::kUsual);
  EXPECT_THAT(text, HasSubstr("Usage: perftape-y list [OPTION...] FILE\n"));
  EXPECT_THAT(text, HasSubstr("--help"));
  EXPECT_THAT(text, Not(HasSubstr("--version")));
}

TEST(HelpText, ListsTheTopics) {
  EXPECT_THAT(HelpText(kWithPrograms, HelpDepth::kUsual),
              HasSubstr("\nTopics:\n  units        what counts what\n"
                        "'perftape-z help WORD' explains one of them.\n"));
}

TEST(BriefText, HasPurposeExamplesAndWhereTheRestIs) {
  EXPECT_EQ(BriefText(kWithPrograms),
            "run programs\n\nExamples:\n  perftape-z run  something\n\n"
            "'perftape-z help' lists all verbs and topics.\n");
}

TEST(UnknownVerbText, NamesTheVerbThatMayBeMeant) {
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "ru"), "unknown verb 'ru'; did you mean run?");
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "walk"), "unknown verb 'walk'");
}

TEST(UnknownVerbText, KnowsTopics) {
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "units"),
            "unknown verb 'units': 'perftape-z help units' explains this topic");
  EXPECT_EQ(UnknownVerbText(kWithPrograms, "unts"), "unknown verb 'unts'; did you mean units?");
}

}  // namespace
}  // namespace perftape::cli
