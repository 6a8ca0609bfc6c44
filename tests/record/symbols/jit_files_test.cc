// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/jit_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "tests/record/symbols/machine_dir.h"

namespace perftape::record {
namespace {

using bundle::FileKind;
using bundle::Kept;
using testing::HasSubstr;
using testing::IsEmpty;

class JitFilesTest : public testing::Test {
 protected:
  static std::string TextOf(const JitFile& file) {
    const auto mapped = MappedFile::FromFd(file.file.get(), "jit file");
    return mapped ? std::string(AsText(mapped->bytes())) : mapped.error().message;
  }
  void WriteFor(std::uint32_t pid, std::string_view path, std::string_view text,
                std::filesystem::perms mode = std::filesystem::perms{0644}) {
    const auto file =
        machine_.dir.Write("proc/" + std::to_string(pid) + "/root" + std::string(path), text);
    std::filesystem::permissions(file, mode);
  }
  std::filesystem::path WriteHere(std::string_view path) {
    const auto file = machine_.dir.Write("root" + std::string(path), "1000 10 f\n");
    std::filesystem::permissions(file, std::filesystem::perms{0644});
    return file;
  }
  static void MakeOlder(const std::filesystem::path& file) {
    std::filesystem::last_write_time(
        file, std::filesystem::last_write_time(file) - std::chrono::seconds(5));
  }
  std::vector<JitFile> ReleaseFiles() { return std::move(jit_).ReleaseFiles(); }

  MachineDir machine_;
  const std::int64_t user_ = ::geteuid();
  JitFiles jit_{machine_.dir / "proc", machine_.dir / "root", WallClockNs(),
                std::make_shared<OthersFiles>()};
};

TEST_F(JitFilesTest, HaveTheMapThatTheProcessSeesUnderThePidThatItHas) {
  machine_.AddProcess(700, user_, 3);
  WriteFor(700, "/tmp/perf-3.map", "1000 10 f\n");
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].about.path, "/tmp/perf-3.map");
  EXPECT_EQ(files[0].about.pid, 700u);
  EXPECT_EQ(files[0].about.kind, FileKind::kPerfMap);
  EXPECT_EQ(files[0].about.kept, Kept::kWhole);
  EXPECT_EQ(TextOf(files[0]), "1000 10 f\n");
}

TEST_F(JitFilesTest, HaveTheMapOfAProcessThatEndedAfterItsHit) {
  machine_.AddProcess(700, user_, 700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n");
  jit_.Hit(700);
  std::filesystem::remove_all(machine_.dir / "proc/700");
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(TextOf(files[0]), "1000 10 f\n");
}

TEST_F(JitFilesTest, HaveTheMapThatIsWrittenAfterTheFirstHit) {
  machine_.AddProcess(700, user_, 700);
  jit_.Hit(700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n");
  EXPECT_EQ(ReleaseFiles().size(), 1u);
}

// The /tmp of a container can be a file system of its user.
TEST_F(JitFilesTest, RefuseAMapOfAFileSystemThatDoesNotAnswer) {
  machine_.AddProcess(700, user_, 700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n");
  const std::shared_ptr<OthersFiles> silent = OthersFiles::Start([]() -> Status {
                                                while (true) pause();
                                              }).value();
  JitFiles jit(machine_.dir / "proc", machine_.dir / "root", WallClockNs(), silent);
  jit.Hit(700);
  const std::vector<JitFile> files = std::move(jit).ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_FALSE(files[0].file);
  EXPECT_EQ(files[0].about.missing, "its file system did not answer in time");
}

TEST_F(JitFilesTest, RefuseAMapThatOthersMayWrite) {
  machine_.AddProcess(700, user_, 700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n", std::filesystem::perms{0664});
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_FALSE(files[0].file);
  EXPECT_EQ(files[0].about.kept, Kept::kNothing);
  EXPECT_THAT(files[0].about.missing, HasSubstr("writable by other users"));
}

TEST_F(JitFilesTest, RefuseAMapOfAnotherUser) {
  if (user_ != 0) GTEST_SKIP() << "only root can give files away";
  machine_.AddProcess(700, 12345, 700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n");
  ASSERT_EQ(::chown((machine_.dir / "proc/700/root/tmp/perf-700.map").c_str(), 54321, 0), 0);
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0].about.missing,
              HasSubstr("owned by user 54321, but its process belongs to user 12345"));
}

TEST_F(JitFilesTest, HaveTheMapThatRootWroteForTheProcess) {
  if (user_ != 0) GTEST_SKIP() << "the files are root's only if root writes them";
  machine_.AddProcess(700, 12345, 700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n");
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].about.missing, "");
}

TEST_F(JitFilesTest, DoNotHaveTheMapOfThisNamespaceForAProcessOfAnother) {
  machine_.AddProcess(700, user_, 1);
  std::filesystem::create_directories(machine_.dir / "proc/700/root/tmp");
  WriteHere("/tmp/perf-1.map");
  WriteHere("/tmp/perf-700.map");
  jit_.Hit(700);
  std::filesystem::remove_all(machine_.dir / "proc/700");
  EXPECT_THAT(ReleaseFiles(), IsEmpty());
}

TEST_F(JitFilesTest, RefuseAMapInADirectorySharedWithTheProcessThatHasItsNumberHere) {
  machine_.AddProcess(1, user_, 1);
  machine_.AddProcess(700, user_, 1);
  WriteFor(700, "/tmp/perf-1.map", "1000 10 f\n");
  std::filesystem::create_directories(machine_.dir / "root/tmp");
  std::filesystem::create_hard_link(machine_.dir / "proc/700/root/tmp/perf-1.map",
                                    machine_.dir / "root/tmp/perf-1.map");
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0].about.missing, HasSubstr("shared with another process 1"));
}

TEST_F(JitFilesTest, RefuseAMapThatIsOlderThanTheProcess) {
  machine_.AddProcess(700, user_, 700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n");
  MakeOlder(machine_.dir / "proc/700/root/tmp/perf-700.map");
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_FALSE(files[0].file);
  EXPECT_THAT(files[0].about.missing, HasSubstr("older than its process"));
}

TEST_F(JitFilesTest, HaveNoMapOlderThanTheRecordingForAProcessThatHadEndedBefore) {
  MakeOlder(WriteHere("/tmp/perf-700.map"));
  WriteHere("/tmp/perf-701.map");
  jit_.Hit(700);
  jit_.Hit(701);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_THAT(files[0].about.missing, HasSubstr("older than the recording"));
  EXPECT_EQ(files[1].about.missing, "");
}

TEST_F(JitFilesTest, HaveNoMapOfAProcessThatGotTheNumberAfterTheRecording) {
  jit_.SetLives({{700, {.started_ns = WallClockNs(), .has_ended = true}}});
  machine_.AddProcess(700, user_, 700);
  WriteFor(700, "/tmp/perf-700.map", "1000 10 f\n");
  jit_.Hit(700);
  EXPECT_THAT(ReleaseFiles(), IsEmpty());
}

TEST_F(JitFilesTest, DoNotFollowALinkOutOfTheProcessesRoot) {
  machine_.AddProcess(700, user_, 700);
  const auto secret = machine_.dir.Write("secret", "not for a bundle");
  const auto tmp = machine_.dir / "proc/700/root/tmp";
  std::filesystem::create_directories(tmp);
  std::filesystem::create_symlink(secret, tmp / "perf-700.map");
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].about.missing, "not a regular file");
}

TEST_F(JitFilesTest, DoNotWaitForAFifo) {
  machine_.AddProcess(700, user_, 700);
  std::filesystem::create_directories(machine_.dir / "proc/700/root/tmp");
  ASSERT_EQ(::mkfifo((machine_.dir / "proc/700/root/tmp/perf-700.map").c_str(), 0600), 0);
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].about.missing, "not a regular file");
}

TEST_F(JitFilesTest, HaveTheDumpOfAProcessWhoseOwnCodeWasHit) {
  const perfdata::Dso dso{.path = "/run/jit-700.dump", .build_id = {}, .symbol = {}};
  const perfdata::Region region{.start = 0x1000, .end = 0x2000, .dso = &dso};
  machine_.AddProcess(700, user_, 700);
  machine_.AddProcess(701, user_, 701);
  WriteFor(700, "/run/jit-700.dump", "DTiJ");
  WriteFor(701, "/run/jit-700.dump", "DTiJ");
  jit_.Mapped(700, region);
  jit_.Mapped(701, region);  // without a sample
  jit_.Hit(700);
  const std::vector<JitFile> files = ReleaseFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].about.kind, FileKind::kJitDump);
  EXPECT_EQ(files[0].about.pid, 700u);
  EXPECT_EQ(TextOf(files[0]), "DTiJ");
}

TEST_F(JitFilesTest, CanBeCopiedForSomeProcesses) {
  for (const std::uint32_t pid : {700, 701}) {
    machine_.AddProcess(pid, user_, pid);
    WriteFor(pid, "/tmp/perf-" + std::to_string(pid) + ".map", "1000 10 f\n");
    jit_.Hit(pid);
  }
  EXPECT_THAT(jit_.ReleaseHits(), testing::ElementsAre(700, 701));
  EXPECT_THAT(jit_.ReleaseHits(), IsEmpty());
  std::filesystem::remove_all(machine_.dir / "proc");
  const std::vector<JitFile> copied = jit_.CopyOf({701, 702}).ReleaseFiles();
  ASSERT_EQ(copied.size(), 1u);
  EXPECT_EQ(copied[0].about.pid, 701u);
  EXPECT_EQ(TextOf(copied[0]), "1000 10 f\n");
  jit_.Forget(700);
  EXPECT_EQ(ReleaseFiles().size(), 1u);
}

}  // namespace
}  // namespace perftape::record
