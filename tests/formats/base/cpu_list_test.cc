// SPDX-License-Identifier: Apache-2.0
#include "formats/base/cpu_list.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CpuListOf, AcceptsNumbersAndRanges) {
  EXPECT_THAT(CpuListOf("0-2,5").value(), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(CpuListOf("65535").value(), ElementsAre(65535));
}

TEST(CpuListOf, SortsAndKeepsEachCpuOnce) {
  EXPECT_THAT(CpuListOf("7,1-3,2-4").value(), ElementsAre(1, 2, 3, 4, 7));
}

TEST(CpuListOf, RefusesOtherTexts) {
  for (const char* bad : {"", "3-1", "x", "1,,2", "1,", "1-", "-1", "1-2-3", " 1", "1\n", "65536",
                          "0-4000000000", "0-99999999999999999999"}) {
    EXPECT_THAT(CpuListOf(bad), FailsWith(ErrorCode::kInvalidArgument)) << bad;
  }
}

TEST(CpuListOf, QuotesTheWrongElement) {
  EXPECT_THAT(CpuListOf("0,4-2,x"), FailsWith(ErrorCode::kInvalidArgument,
                                              HasSubstr("'4-2' is not a CPU or a range of CPUs")));
}

TEST(FormatCpuList, HasTheShortestRanges) {
  EXPECT_EQ(FormatCpuList(std::vector{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(FormatCpuList(std::vector{3}), "3");
  EXPECT_EQ(FormatCpuList({}), "");
}

}  // namespace
}  // namespace perftape
