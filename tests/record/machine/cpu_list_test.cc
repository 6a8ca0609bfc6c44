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

TEST(CpuList, ReadsWhatIsOnlineAndPresentFromSys) {
  const TempDir sys;
  sys.Write("devices/system/cpu/online", "0,2-3\n");
  sys.Write("devices/system/cpu/present", "0-3\n");
  EXPECT_THAT(OnlineCpus(sys.path()).value(), ElementsAre(0, 2, 3));
  EXPECT_THAT(PresentCpus(sys.path()).value(), ElementsAre(0, 1, 2, 3));
}

TEST(CpuList, NamesTheFileThatIsDamaged) {
  const TempDir sys;
  for (const char* damaged : {"none\n", "\n", "0-1\n\n"}) {
    sys.Write("devices/system/cpu/online", damaged);
    const Result<std::vector<int>> cpus = OnlineCpus(sys.path());
    ASSERT_FALSE(cpus) << damaged;
    EXPECT_THAT(cpus.error().message, HasSubstr("devices/system/cpu/online"));
  }
}

TEST(CpuList, FindsTheCpuThatThisTestRunsOn) {
  EXPECT_THAT(OnlineCpus().value(), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace perftape::record
