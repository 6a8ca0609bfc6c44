// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/man_text.h"

#include <gtest/gtest.h>

namespace perftape::cli {
namespace {

TEST(FindSection, EndsAtTheNextHeadingOfItsLevel) {
  EXPECT_EQ(FindSection("# A\n\na\n\n## Part\n\nb\n\n# B\n\nc\n", "A"), "\na\n\n## Part\n\nb\n");
  EXPECT_EQ(FindSection("# A\na\n# B\n\nc\n", "B"), "\nc\n");
  EXPECT_EQ(FindSection("# A\na\n", "B"), "");
}

TEST(PlainText, JoinsAndWrapsTheLinesOfAParagraph) {
  EXPECT_EQ(PlainText("\nOne\ntwo.\n\nThree.\n"), "One two.\n\nThree.\n");
  const std::string long_line(100, 'a');
  EXPECT_EQ(PlainText("b " + long_line + "\n"), "b\n" + long_line + "\n");
}

TEST(PlainText, RemovesMarks) {
  EXPECT_EQ(PlainText("**perf**(1), *TIME*, `x`, **\\--all**, a\\*b\n"),
            "perf(1), TIME, x, --all, a*b\n");
}

TEST(PlainText, KeepsTheLinesOfExamples) {
  EXPECT_EQ(PlainText("Do:\n\n    perf '*' \\\n        -o x\n\nThen.\n"),
            "Do:\n\n    perf '*' \\\n        -o x\n\nThen.\n");
}

TEST(PlainText, IndentsDefinitionsAndWhatBelongsToThem) {
  EXPECT_EQ(
      PlainText("*TIME*\n:   A number\n    of seconds.\n\n    More.\n\n        x y\n\nEnd.\n"),
      "TIME\n    A number of seconds.\n\n    More.\n\n        x y\n\nEnd.\n");
}

TEST(PlainText, KeepsItemsApart) {
  EXPECT_EQ(PlainText("Two:\n\n* one\n  line\n* two\n"), "Two:\n\n* one line\n* two\n");
}

TEST(PlainText, WritesTablesAsTermsWithTexts) {
  EXPECT_EQ(PlainText("| a | b |\n|---|---|\n| CAP_BPF | events |\n| CAP_KILL | ending |\n"),
            "CAP_BPF\n    events\nCAP_KILL\n    ending\n");
}

TEST(PlainText, KeepsHeadings) {
  EXPECT_EQ(PlainText("\n## Record\n\nText.\n"), "Record\n\nText.\n");
}

TEST(ReferenceChapter, HasTheTitleAndSectionsAsHeadings) {
  EXPECT_EQ(ReferenceChapter("% PERFTAPE(7) perftape\n\n# NAME\n\nx\n\n## Part\n"),
            "# perftape(7)\n\n## NAME\n\nx\n\n### Part\n");
}

TEST(ReferenceChapter, MakesItemsOfDefinitions) {
  EXPECT_EQ(ReferenceChapter("% A(1) a\n**-o** *FILE*\n:   Write\n    it.\n\n    More.\n"),
            "# a(1)\n* **-o** *FILE*\\\n    Write\n    it.\n\n    More.\n");
}

}  // namespace
}  // namespace perftape::cli
