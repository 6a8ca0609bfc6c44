// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "tests/tools/common/cli/example_commands.h"
#include "tools/common/cli/help.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;

const std::string kOwnLines =
    "{--output}\n{--values}\n: {choices}\n{--time}\n: {choices}\n{-g}\n{--level}\n";
const std::string kCommonLines = "{--help}\n{--help-all}\n{--version}\n{--completion}\n";

std::string ErrorOf(const Command& command, const std::string& source) {
  const Result<std::string> page = ManPage(command, source);
  return page ? "" : page.error().message;
}

TEST(ManPage, WritesLettersNamesAndArguments) {
  const auto page = ManPage(kCommand, kOwnLines + kCommonLines);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, HasSubstr("**-o**, **\\--output** *FILE*\n"));
  EXPECT_THAT(*page, HasSubstr("\n**\\--time** *FROM*,*TO*\n"));
  EXPECT_THAT(*page, HasSubstr("\n**-g**\n"));
  EXPECT_THAT(*page, HasSubstr("\n**-z**, **\\--level**[=*LEVEL*]\n"));
  EXPECT_THAT(*page, HasSubstr("\n**-h**, **\\--help**\n"));
}

TEST(ManPage, WritesTheChoicesOfAnOption) {
  const auto page = ManPage(kCommand, kOwnLines + kCommonLines);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, HasSubstr("\n**\\--values** *KIND*\n: **samples** or **period**\n"));
}

TEST(ManPage, KeepsAllOtherLines) {
  const auto page = ManPage(kWithVerbs, "# A {choices}\n\n{x}\n" + kCommonLines +
                                            "## list\n{--help}\n{--help-all}\n{--json}\n# B\nend");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(*page, HasSubstr("# A {choices}\n\n{x}\n**-h**, **\\--help**\n"));
  EXPECT_TRUE(page->ends_with("\n**\\--json**\n# B\nend\n"));
}

TEST(ManPage, SortsTheOptionsByGroup) {
  const std::string others =
      "{-g}\nCalls.\n\n{--level}\n{--help-all}\n{--version}\n{--completion}\n";
  const auto page = ManPage(kCommand, "# OPTIONS\n\nAll:\n\n{--help}\n\n{--time}\n\n" + others +
                                          "{--output}\n\n{--values}\n\n# FILES\n\nNone.\n");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(
      page->starts_with("# OPTIONS\n\nAll:\n\n"
                        "## Output\n\n"
                        "**\\--time** *FROM*,*TO*\n\n"
                        "**-o**, **\\--output** *FILE*\n\n"
                        "**\\--values** *KIND*\n\n"
                        "## Other options\n\n"
                        "**-h**, **\\--help**\n\n"
                        "**-g**\nCalls.\n\n"));
  EXPECT_TRUE(page->ends_with("\n# FILES\n\nNone.\n"));
}

TEST(ManPage, OneGroupHasNoHeading) {
  const auto page =
      ManPage(kWithVerbs, kCommonLines + "## list\n{--help}\n{--help-all}\n{--json}\n");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->find("## Other"), std::string::npos);
}

TEST(ManPage, ListsVerbsAndTopics) {
  const auto page = ManPage(kWithPrograms, "{verbs}\n\n{topics}\n" + kCommonLines);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(
      page->starts_with("**run**\n:   A program of its own: **perftape-z-run**(1).\n\n"
                        "**units**\n:   What counts what.\n**-h**"));
  EXPECT_EQ(ErrorOf(kWithPrograms, "{verbs}\n" + kCommonLines),
            "perftape-z has no line {verbs} or {topics}");
}

TEST(ManPage, ReportsAnOptionWithoutALine) {
  EXPECT_EQ(ErrorOf(kCommand, kCommonLines), "perftape-x has no line {--output}");
  EXPECT_EQ(ErrorOf(kWithVerbs, kCommonLines + "## list\n{--help}\n{--help-all}\n"),
            "perftape-y list has no line {--json}");
}

TEST(ManPage, ReportsAnUnknownOption) {
  EXPECT_EQ(ErrorOf(kCommand, "\n{--ouput}\n"), "line 2: --ouput: perftape-x has no such option");
  EXPECT_EQ(ErrorOf(kCommand, "{-o}\n"), "line 1: -o: perftape-x has no such option");
  EXPECT_EQ(ErrorOf(kWithVerbs, "{--json}\n"), "line 1: --json: perftape-y has no such option");
}

TEST(ManPage, ReportsAnOptionWithTwoLines) {
  EXPECT_EQ(ErrorOf(kCommand, "{-g}\n{-g}\n"), "line 2: -g: perftape-x has two such lines");
}

}  // namespace
}  // namespace perftape::cli
