// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/jit_file_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "tests/support/matchers.h"
#include "tests/support/process_dir.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

using testing::HasSubstr;

class JitFileSearch : public testing::Test {
 protected:
  JitFileSearch() {
    const mode_t before = umask(022);
    path_ = dir_.Write("app/jit-5.dump", "local");
    umask(before);
  }

  Result<FoundJitFile> FindDump() const {
    return FindJitDump("/app/jit-5.dump", 5,
                       {.local_root = dir_.path(), .proc = machine_.dir / "proc"});
  }
  Result<FoundJitFile> FindMap(perfdata::ProcessLives lives = {}) const {
    return FindPerfMap(
        5, {.local_root = dir_.path(), .proc = machine_.dir / "proc", .lives = std::move(lives)});
  }

  TempDir dir_;
  ProcessDir machine_;
  std::filesystem::path path_;
};

TEST_F(JitFileSearch, FindsADumpByItsPath) {
  const auto found = FindDump();
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(AsText(found->bytes), "local");
  EXPECT_EQ(found->source, path_.native());
}

TEST_F(JitFileSearch, PrefersWhatTheUserGave) {
  dir_.Write("carried/app/jit-5.dump", "carried");
  const auto found =
      FindJitDump("/app/jit-5.dump", 5, {.symfs = dir_ / "carried", .local_root = dir_.path()});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(AsText(found->bytes), "carried");
}

TEST_F(JitFileSearch, DoesNotLeaveTheRootByDots) {
  dir_.Write("carried/x", "");
  EXPECT_THAT(
      FindJitDump("/../app/jit-5.dump", 5, {.symfs = dir_ / "carried", .not_local = "elsewhere"}),
      FailsWith(ErrorCode::kNotFound, HasSubstr("carried/app/jit-5.dump")));
}

TEST_F(JitFileSearch, LeavesThisMachineAloneWhereTheRecordingIsOfAnother) {
  EXPECT_THAT(FindJitDump("/app/jit-5.dump", 5,
                          {.not_local = "recorded elsewhere", .local_root = dir_.path()}),
              FailsWith(ErrorCode::kNotFound, HasSubstr("recorded elsewhere")));
}

TEST_F(JitFileSearch, RejectsAFileThatOthersMayWrite) {
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_THAT(FindDump(),
              FailsWith(ErrorCode::kPermission, HasSubstr("other users can write to it")));
}

TEST_F(JitFileSearch, RejectsAFileOfAnotherUser) {
  if (chown(path_.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_THAT(FindDump(), FailsWith(ErrorCode::kPermission, HasSubstr("belongs to another user")));
  machine_.AddProcess(5, 54321, 5);
  EXPECT_THAT(FindDump(),
              FailsWith(ErrorCode::kPermission,
                        HasSubstr("owned by user 12345, but its process belongs to user 54321")));
}

TEST_F(JitFileSearch, TellsTheNumberOfTheProcessInItsOwnNamespace) {
  machine_.AddProcess(5, geteuid(), 1);
  const auto file = machine_.dir.Write("proc/5/root/app/jit-5.dump", "its own");
  std::filesystem::permissions(file, std::filesystem::perms{0644});
  const auto found = FindDump();
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(AsText(found->bytes), "its own");
  EXPECT_EQ(found->own_pid, 1u);
}

TEST_F(JitFileSearch, LeavesTheMapsOfThisNamespaceAloneForAProcessOfAnother) {
  machine_.AddProcess(5, geteuid(), 1);
  for (const char* path : {"tmp/perf-1.map", "tmp/perf-5.map"}) {
    std::filesystem::permissions(dir_.Write(path, "1000 10 f\n"), std::filesystem::perms{0644});
  }
  EXPECT_THAT(FindMap(), FailsWith(ErrorCode::kNotFound));
}

TEST_F(JitFileSearch, RejectsAMapThatIsOlderThanItsProcess) {
  const auto map = dir_.Write("tmp/perf-5.map", "1000 10 f\n");
  std::filesystem::permissions(map, std::filesystem::perms{0644});
  EXPECT_THAT(FindMap(), IsOk());
  std::filesystem::last_write_time(map,
                                   std::filesystem::last_write_time(map) - std::chrono::seconds(5));
  EXPECT_THAT(FindMap(), IsOk());  // nothing is known of the process
  const auto older = FailsWith(ErrorCode::kPermission, HasSubstr("older than its process"));
  EXPECT_THAT(FindMap({{5, {.started_ns = WallClockNs()}}}), older);
  machine_.AddProcess(5, geteuid(), 5);
  EXPECT_THAT(FindMap(), older);
}

TEST_F(JitFileSearch, RejectsTheMapOfAProcessThatGotTheNumberLater) {
  machine_.AddProcess(5, geteuid(), 5);
  const auto map = machine_.dir.Write("proc/5/root/tmp/perf-5.map", "1000 10 f\n");
  std::filesystem::permissions(map, std::filesystem::perms{0644});
  EXPECT_THAT(FindMap(), IsOk());
  EXPECT_THAT(FindMap({{5, {.has_ended = true}}}), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(FindMap({{5, {.started_ns = WallClockNs() - 9'000'000'000}}}),
              FailsWith(ErrorCode::kNotFound));
}

TEST_F(JitFileSearch, RejectsTheMapOfAProcessThatWasRecordedInAnotherNamespace) {
  const auto map = dir_.Write("tmp/perf-5.map", "1000 10 f\n");
  std::filesystem::permissions(map, std::filesystem::perms{0644});
  EXPECT_THAT(FindMap({{5, {.pid_namespace = 4711}}}),
              FailsWith(ErrorCode::kPermission, HasSubstr("another pid namespace")));
}

TEST_F(JitFileSearch, DoesNotFollowLinks) {
  std::filesystem::create_symlink(path_, dir_ / "jit-6.dump");
  EXPECT_FALSE(
      FindJitDump("/jit-6.dump", 6, {.local_root = dir_.path(), .proc = machine_.dir / "proc"}));
}

TEST_F(JitFileSearch, RefusesFilesOfGigabytesWhereverTheyAreFrom) {
  std::filesystem::resize_file(path_, std::uint64_t{2} << 30);
  EXPECT_THAT(
      FindDump(),
      FailsWith(ErrorCode::kUnsupported,
                path_.native() + ": of 2147483648 bytes, more than the limit of 1073741824"));
  std::filesystem::resize_file(dir_.Write("carried/tmp/perf-5.map", ""), std::uint64_t{16} << 30);
  EXPECT_THAT(FindPerfMap(5, {.symfs = dir_ / "carried"}),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("more than the limit of 268435456")));
}

}  // namespace
}  // namespace perftape::symbolize
