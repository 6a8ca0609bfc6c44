// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/diff_table.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace perftape::perf_tool {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const SymbolShares kOld = {{{"a.out", "[.] main"}, {60, 600}},
                           {{"a.out", "[.] gone"}, {30, 300}},
                           {{"libc.so.6", "[.] malloc"}, {10, 100}}};
const SymbolShares kNew = {{{"a.out", "[.] main"}, {50, 500}},
                           {{"libc.so.6", "[.] malloc"}, {40, 400}},
                           {{"[kernel.kallsyms]", "[k] schedule"}, {10, 100}}};

TEST(DiffTable, SortsByTheSizeOfTheDifference) {
  EXPECT_EQ(DiffTable(std::vector{kOld, kNew}, std::vector<std::string>{"old", "new"},
                      DiffColumn::kDeltaAbsolute, false),
            "#\n"
            "# Baseline  Delta Abs  Shared Object      Symbol      \n"
            "# ........  .........  .................  ............\n"
            "#\n"
            "    10.00%    +30.00%  libc.so.6          [.] malloc\n"
            "    60.00%    -10.00%  a.out              [.] main\n"
            "              +10.00%  [kernel.kallsyms]  [k] schedule\n"
            "    30.00%             a.out              [.] gone\n");
}

TEST(DiffTable, SortsByTheDifferenceOrTheRatio) {
  const std::vector<std::string> names = {"old", "new"};
  EXPECT_THAT(DiffTable(std::vector{kOld, kNew}, names, DiffColumn::kDelta, true),
              StartsWith("    10.00%  +30.00%  libc.so.6          [.] malloc\n"
                         "            +10.00%  [kernel.kallsyms]  [k] schedule\n"));
  EXPECT_THAT(DiffTable(std::vector{kOld, kNew}, names, DiffColumn::kRatio, true),
              HasSubstr("    60.00%        0.833333  a.out"));
}

TEST(DiffTable, NumbersTheColumnsOfMoreThanTwoFiles) {
  const std::string text =
      DiffTable(std::vector{kOld, kNew, kOld}, std::vector<std::string>{"x", "y", "z"},
                DiffColumn::kDeltaAbsolute, false);
  EXPECT_THAT(text, StartsWith("#\n# Data files:\n#  [0] x (Baseline)\n#  [1] y \n#  [2] z \n#\n"
                               "# Baseline/0  Delta Abs/1  Delta Abs/2  Shared Object"));
  EXPECT_THAT(text, HasSubstr("      60.00%      -10.00%       +0.00%  a.out"));
}

TEST(DiffTable, EscapesNames) {
  const SymbolShares hostile = {{{"\033[31m", "[.] x"}, {100, 1}}};
  const std::string text =
      DiffTable(std::vector{hostile, hostile}, std::vector<std::string>{"a", "b"},
                DiffColumn::kDeltaAbsolute, false);
  EXPECT_EQ(text.find('\033'), text.npos);
}

}  // namespace
}  // namespace perftape::perf_tool
