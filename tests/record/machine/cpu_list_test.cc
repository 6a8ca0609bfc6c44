// SPDX-License-Identifier: Apache-2.0
#include "record/machine/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CpuList, ReadsNumbersAndRanges) {
  EXPECT_THAT(ParseCpuList("0-2,5").value(), ElementsAre(0, 1, 2, 5));
}

TEST(CpuList, SortsAndKeepsEachCpuOnce) {
  EXPECT_THAT(ParseCpuList("7,1-3,2-4").value(), ElementsAre(1, 2, 3, 4, 7));
}

TEST(CpuList, AcceptsATrailingNewline) {
  EXPECT_THAT(ParseCpuList("0-1\n").value(), ElementsAre(0, 1));
  EXPECT_THAT(ParseCpuList("\n").value(), IsEmpty());
}

TEST(CpuList, NamesThePartThatIsWrong) {
  for (const char* bad :
       {"3-1", "x", "1,,2", "1-", "-1", "1-2-3", " 1", "65536", "0-99999999999999999999"}) {
    const Result<std::vector<int>> cpus = ParseCpuList(bad);
    ASSERT_FALSE(cpus) << bad;
    EXPECT_EQ(cpus.error().code, ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_THAT(ParseCpuList("0,4-2").error().message, HasSubstr("\"4-2\""));
  EXPECT_FALSE(ParseCpuList("1,"));
}

TEST(CpuList, IsWrittenWithTheShortestRanges) {
  EXPECT_EQ(FormatCpuList(std::vector{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(FormatCpuList(std::vector{3}), "3");
  EXPECT_EQ(FormatCpuList({}), "");
}

TEST(CpuList, ReadsWhatIsOnlineAndPresentFromSys) {
  const TempDir sys;
  sys.Write("devices/system/cpu/online", "0,2-3\n");
  sys.Write("devices/system/cpu/present", "0-3\n");
  EXPECT_THAT(OnlineCpus(sys.path()).value(), ElementsAre(0, 2, 3));
  EXPECT_THAT(PresentCpus(sys.path()).value(), ElementsAre(0, 1, 2, 3));
}

TEST(CpuList, NamesTheFileThatIsDamaged) {
  const TempDir sys;
  sys.Write("devices/system/cpu/online", "none\n");
  EXPECT_THAT(OnlineCpus(sys.path()).error().message, HasSubstr("devices/system/cpu/online"));
}

TEST(CpuList, FindsTheCpuThatThisTestRunsOn) {
  EXPECT_THAT(OnlineCpus().value(), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace perftape::record
