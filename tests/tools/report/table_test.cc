// SPDX-License-Identifier: Apache-2.0
#include "tools/report/table.h"

#include <gmock/gmock.h>

namespace perftape::report_tool {
namespace {

Section Example() {
  return {.title = "cycles",
          .lines = {"3 samples"},
          .warnings = {"only 3 samples"},
          .tables = {{.title = "Functions",
                      .columns = {{.title = "Self"},
                                  {.title = "Binary", .align = Column::Align::kLeft},
                                  {.title = "Function", .align = Column::Align::kLeft}},
                      .rows = {{Percent{62.5}, std::string("app"), std::string("f(a, b)")},
                               {Percent{1.25}, std::string("libc"), std::string("x|y")}},
                      .note = "7 more"}}};
}

TEST(TextOf, AlignsTheColumns) {
  EXPECT_EQ(TextOf({Example()}, {}),
            "cycles\n"
            "  3 samples\n"
            "  warning: only 3 samples\n"
            "\n"
            "Functions\n"
            "     Self  Binary  Function\n"
            "  62.50 %  app     f(a, b)\n"
            "   1.25 %  libc    x|y\n"
            "  7 more\n");
}

TEST(CellText, ShowsBytesInALargerUnit) {
  const auto text = [](double bytes) {
    return CellText(Quantity{.value = bytes, .unit = "bytes"});
  };
  EXPECT_EQ(text(0), "0 B");
  EXPECT_EQ(text(-512), "-512 B");
  EXPECT_EQ(text(1536), "1.50 KiB");
  EXPECT_EQ(text(-2097152), "-2.00 MiB");
  EXPECT_EQ(text(1234567890123), "1.12 TiB");
}

TEST(TextOf, BreaksRemarksBelowTheirIndent) {
  const Section section = {.remarks = {{.label = "critical", .text = "a limit", .is_bad = true},
                                       {.label = "info", .text = "one two three", .level = 1},
                                       {.text = "no label", .level = 1}}};
  EXPECT_EQ(TextOf({section}, {.width = 16}),
            "  critical: a\n"
            "    limit\n"
            "    info: one\n"
            "      two three\n"
            "    no label\n");
  EXPECT_EQ(MarkdownOf({section}),
            "* **critical:** a limit\n"
            "  * **info:** one two three\n"
            "  * no label\n");
}

TEST(TextOf, CutsTheMiddleOfNamesAtTheWidth) {
  const std::string text =
      TextOf({{.title = "",
               .lines = {},
               .warnings = {},
               .tables = {{.title = "T",
                           .columns = {{.title = "A"}, {.title = "Name"}},
                           .rows = {{std::int64_t{1}, std::string("größenordnung")}}}}}},
             {.width = 14});
  EXPECT_EQ(text, "\nT\n  A  Name\n  1  grö…dnung\n");
}

TEST(TextOf, LeavesOutOptionalAndEmptyColumnsBeforeItCutsNames) {
  const Section section = {
      .title = "",
      .lines = {},
      .warnings = {},
      .tables = {
          {.title = "T",
           .columns = {{.title = "Self"},
                       {.title = "Samples", .is_optional = true},
                       {.title = "Binary", .align = Column::Align::kLeft},
                       {.title = "Function", .align = Column::Align::kLeft}},
           .rows = {{Percent{50}, std::int64_t{1}, std::string(), std::string("map<int>::find")},
                    {Percent{50}, std::int64_t{1}, std::string(), std::string("map<int>::end")}}}}};
  EXPECT_EQ(TextOf({section}, {.width = 40}),
            "\nT\n     Self  Binary  Function\n  50.00 %          map<int>::find\n"
            "  50.00 %          map<int>::end\n");
  EXPECT_EQ(TextOf({section}, {.width = 25}),
            "\nT\n     Self  Function\n  50.00 %  map<int>::find\n  50.00 %  map<int>::end\n");
  EXPECT_EQ(TextOf({section}, {.width = 23}),
            "\nT\n     Self  Function\n  50.00 %  map<…>::find\n  50.00 %  map<…>::end\n");
}

TEST(TextOf, WrapsWarningsAtTheWidth) {
  Section section;
  section.warnings = {"only a few samples, and anextremelylongword"};
  EXPECT_EQ(TextOf({section}, {.width = 24}),
            "  warning: only a few\n"
            "    samples, and\n"
            "    anextremelylongword\n");
}

TEST(TextOf, ColoursLargeSharesAsPerfDoes) {
  EXPECT_THAT(TextOf({Example()}, {.width = 0, .has_colours = true}),
              testing::HasSubstr("\033[31m  62.50 %\033[0m  app"));
}

TEST(TextOf, EscapesControlCharacters) {
  Section section = Example();
  section.title = "a\033[31m";
  section.tables[0].rows[0][2] = std::string("f\n");
  const std::string text = TextOf({section}, {});
  EXPECT_THAT(text, testing::HasSubstr("a\\x1b[31m"));
  EXPECT_THAT(text, testing::HasSubstr("f\\n\n"));
}

TEST(MarkdownOf, EscapesWhatMarkdownInterprets) {
  EXPECT_EQ(MarkdownOf({Example()}),
            "## cycles\n\n"
            "* 3 samples\n"
            "* **warning:** only 3 samples\n"
            "\n### Functions\n\n"
            "| Self | Binary | Function |\n"
            "|---:|---|---|\n"
            "| 62.50 % | app | f(a, b) |\n"
            "| 1.25 % | libc | x\\|y |\n"
            "\n7 more\n");
}

TEST(CsvOf, WritesPlainNumbersAndQuotesCommas) {
  EXPECT_EQ(CsvOf({Example()}),
            "Self,Binary,Function\n"
            "62.5000,app,\"f(a, b)\"\n"
            "1.2500,libc,x|y\n");
}

TEST(CsvOf, WritesNamesThatNothingInterprets) {
  Section section = Example();
  section.tables[0].rows = {{Percent{1}, std::string("=1+1"), std::string("a\033[2J")}};
  EXPECT_EQ(CsvOf({section}), "Self,Binary,Function\n1.0000,'=1+1,a\\x1b[2J\n");
}

TEST(CellText, ShowsNanosecondsAsATime) {
  EXPECT_EQ(CellText(Quantity{1.5e9, "nanoseconds"}), "1.500 s");
  EXPECT_EQ(CellText(Quantity{2.25e6, "nanoseconds"}), "2.250 ms");
  EXPECT_EQ(CellText(Quantity{999, "nanoseconds"}), "999 ns");
  EXPECT_EQ(CellText(Quantity{12, "count"}), "12");
  EXPECT_EQ(CellText(Quantity{12.5, "count"}), "12.5");
}

}  // namespace
}  // namespace perftape::report_tool
