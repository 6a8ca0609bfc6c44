// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_report.h"

#include <gmock/gmock.h>

namespace perftape::cli {
namespace {

using testing::ElementsAre;

symbolize::SymbolizeReport TwoMappings() {
  symbolize::SymbolizeReport report;
  report.mappings.push_back(
      {.filename = "/bin/ls", .build_id = "abcd", .counts = {5, 0, 0, 2}, .problem = ""});
  report.mappings.push_back(
      {.filename = "[vdso]", .build_id = "", .counts = {0, 3, 0, 0}, .problem = "no such file"});
  return report;
}

TEST(SymbolLine, ReportsWhyAddressesHaveNoName) {
  symbolize::SymbolizeReport report = TwoMappings();
  report.unmapped = 7;
  const std::string line =
      "symbols: 5 locations named; without a name: 3 no file, 2 no symbol, 7 in no mapping";
  EXPECT_EQ(SymbolLine(report, SymbolDetail::kSummary),
            line + " (--show-sources prints the reasons)");
  EXPECT_EQ(SymbolLine(report, SymbolDetail::kSources), line);
}

TEST(SymbolLine, IsShortWhereAllHaveNames) {
  EXPECT_EQ(SymbolLine({.mappings = {}, .kept = 12}, SymbolDetail::kSummary),
            "symbols: 12 locations named");
}

TEST(SymbolLine, PointsToSourcesOnlyForWhatTheyExplain) {
  symbolize::SymbolizeReport report = TwoMappings();
  report.mappings.pop_back();
  EXPECT_EQ(SymbolLine(report, SymbolDetail::kSummary),
            "symbols: 5 locations named; without a name: 2 no symbol");
}

TEST(MappingLines, ReportTheSameForEachMapping) {
  EXPECT_THAT(MappingLines(TwoMappings()),
              ElementsAre("/bin/ls abcd: 5 locations named, 2 no symbol",
                          "[vdso]: 0 locations named, 3 no file: no such file"));
}

TEST(SymbolSourceLines, ListTheUsedAndTheRejectedSources) {
  symbolize::SymbolizeReport report = TwoMappings();
  report.mappings[0].source = "/symfs/bin/ls (symbols)";
  report.mappings[0].tried = {"/other/bin/ls: build id 1234, but the recorded one is abcd"};
  EXPECT_THAT(SymbolSourceLines(report),
              ElementsAre("/bin/ls abcd: /symfs/bin/ls (symbols)",
                          "  not used: /other/bin/ls: build id 1234, but the recorded one is abcd",
                          "[vdso]: no names", "  no such file"));
}

TEST(SymbolSourceLines, ReportProblemsWithLines) {
  symbolize::SymbolizeReport report = TwoMappings();
  report.mappings.pop_back();
  report.mappings[0].source = "/bin/ls (symbols)";
  report.mappings[0].problem = "ls.dwo: not found";
  EXPECT_THAT(SymbolSourceLines(report),
              ElementsAre("/bin/ls abcd: /bin/ls (symbols)", "  ls.dwo: not found"));
}

}  // namespace
}  // namespace perftape::cli
