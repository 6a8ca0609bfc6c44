// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/jit_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

using testing::HasSubstr;

class JitFilesTest : public testing::Test {
 protected:
  JitFilesTest() {
    const mode_t before = umask(022);
    path_ = dir_.Write("app/jit-5.dump", "local");
    umask(before);
  }

  TempDir dir_;
  std::filesystem::path path_;
};

TEST_F(JitFilesTest, FindsADumpByItsPath) {
  const auto found = FindJitDump("/app/jit-5.dump", 5, {.local_root = dir_.path()});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(AsText(found->bytes), "local");
  EXPECT_EQ(found->source, path_.native());
}

TEST_F(JitFilesTest, PrefersWhatTheUserGave) {
  dir_.Write("carried/app/jit-5.dump", "carried");
  const auto found =
      FindJitDump("/app/jit-5.dump", 5, {.symfs = dir_ / "carried", .local_root = dir_.path()});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(AsText(found->bytes), "carried");
}

TEST_F(JitFilesTest, DoesNotLeaveTheRootByDots) {
  dir_.Write("carried/x", "");
  EXPECT_THAT(
      FindJitDump("/../app/jit-5.dump", 5, {.symfs = dir_ / "carried", .not_local = "elsewhere"}),
      FailsWith(ErrorCode::kNotFound, HasSubstr("carried/app/jit-5.dump")));
}

TEST_F(JitFilesTest, LeavesThisMachineAloneWhereTheRecordingIsOfAnother) {
  EXPECT_THAT(FindJitDump("/app/jit-5.dump", 5,
                          {.not_local = "recorded elsewhere", .local_root = dir_.path()}),
              FailsWith(ErrorCode::kNotFound, HasSubstr("recorded elsewhere")));
}

TEST_F(JitFilesTest, RejectsAFileThatOthersMayWrite) {
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_THAT(OpenTrusted(path_, 4711),
              FailsWith(ErrorCode::kPermission, HasSubstr("others may write to it")));
  EXPECT_THAT(FindJitDump("/app/jit-5.dump", 5, {.local_root = dir_.path()}),
              FailsWith(ErrorCode::kPermission));
}

TEST_F(JitFilesTest, RejectsAFileOfAnotherUser) {
  if (chown(path_.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_THAT(OpenTrusted(path_, static_cast<std::uint32_t>(getpid())),
              FailsWith(ErrorCode::kPermission, HasSubstr("belongs to another user")));
}

TEST_F(JitFilesTest, DoesNotFollowLinks) {
  std::filesystem::create_symlink(path_, dir_ / "jit-6.dump");
  EXPECT_FALSE(OpenTrusted(dir_ / "jit-6.dump", 6));
}

TEST_F(JitFilesTest, RefusesFilesOfGigabytesWhereverTheyAreFrom) {
  std::filesystem::resize_file(path_, std::uint64_t{2} << 30);
  EXPECT_THAT(
      FindJitDump("/app/jit-5.dump", 5, {.local_root = dir_.path()}),
      FailsWith(ErrorCode::kUnsupported,
                path_.native() + ": of 2147483648 bytes, more than the 1073741824 that are read"));
  std::filesystem::resize_file(dir_.Write("carried/tmp/perf-5.map", ""), std::uint64_t{16} << 30);
  EXPECT_THAT(FindPerfMap(5, {.symfs = dir_ / "carried"}),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("more than the 268435456")));
}

}  // namespace
}  // namespace perftape::symbolize
