// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "tests/support/files.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::cli {
namespace {

using testing::HasSubstr;

TEST(OutputNamed, IsDashForStdoutByWhateverName) {
  const TempDir directory;
  std::filesystem::create_symlink("/proc/self/fd/1", directory / "stdout");
  EXPECT_EQ(OutputNamed("-"), "-");
  EXPECT_EQ(OutputNamed("/proc/self/fd/1"), "-");
  EXPECT_EQ(OutputNamed((directory / "stdout").native()), "-");
  EXPECT_EQ(OutputNamed("/proc/self/fd/2"), "/proc/self/fd/2");
  EXPECT_EQ(OutputNamed("x.folded"), "x.folded");
}

TEST(CheckOutput, ReportsLaterFailuresBeforeTheWork) {
  const TempDir directory;
  const auto there = directory.Write("out", "");
  EXPECT_THAT(CheckOutput(there, IfExists::kRefuse),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("out: exists; -f replaces it")));
  EXPECT_THAT(CheckOutput(there, IfExists::kReplace), IsOk());
  EXPECT_THAT(CheckOutput(directory / "absent/out", IfExists::kRefuse),
              FailsWith(ErrorCode::kNotFound, HasSubstr("absent/out: No such file")));
  EXPECT_THAT(CheckOutput(directory.path(), IfExists::kReplace), FailsWith(ErrorCode::kIo));
  EXPECT_THAT(CheckOutput("-", IfExists::kRefuse), IsOk());
}

TEST(CheckOutput, LooksAtTheDirectoryThatALinkLeadsInto) {
  const TempDir directory;
  std::filesystem::create_symlink("absent/out", directory / "link");
  EXPECT_THAT(CheckOutput(directory / "link", IfExists::kRefuse), FailsWith(ErrorCode::kNotFound));
}

TEST(RefuseTerminal, RefusesATerminalAndNothingElse) {
  const TempDir directory;
  EXPECT_THAT(RefuseTerminal(*ResolveOutput(directory / "out"), "pprof"), IsOk());
  const UniqueFd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!master || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0) {
    GTEST_SKIP() << "no terminals can be made here";
  }
  std::array<char, 64> name = {};
  ASSERT_EQ(ptsname_r(master.get(), name.data(), name.size()), 0);
  EXPECT_THAT(RefuseTerminal(*ResolveOutput(name.data()), "pprof"),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("to a terminal")));
}

}  // namespace
}  // namespace perftape::cli
