// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/others_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "record/symbols/local_files.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A process that never answers, as one that waits for a dead file server.
Status NeverReturns() {
  while (true) pause();
}

std::shared_ptr<OthersFiles> Started(std::function<Status()> confine) {
  return OthersFiles::Start(std::move(confine)).value();
}

class OthersFilesTest : public testing::Test {
 protected:
  OthersFilesTest() { std::ofstream(dir_.path() / "file") << "content"; }

  std::string ContentOf(const OpenedFile& opened) {
    return opened.file ? ReadToEnd(opened.file.get(), "file", 100).value() : std::string();
  }

  TempDir dir_;
};

TEST_F(OthersFilesTest, OpensAFile) {
  const auto files = Started({});
  for (int i = 0; i < 3; ++i) {
    const OpenedFile opened = files->OpenPath(dir_.path() / "file");
    EXPECT_EQ(opened.outcome, FileOutcome::kOpened);
    EXPECT_EQ(opened.status.st_uid, getuid());
    EXPECT_EQ(opened.size(), 7U);
    EXPECT_EQ(ContentOf(opened), "content");
  }
  EXPECT_THAT(files->told(), IsEmpty());
}

TEST_F(OthersFilesTest, OpensAFileBelowARoot) {
  std::filesystem::create_symlink("/etc/passwd", dir_.path() / "link");
  std::filesystem::create_symlink("/", dir_.path() / "up");
  for (const auto& files : {Started({}), std::make_shared<OthersFiles>()}) {
    EXPECT_EQ(ContentOf(files->OpenWithin(0, dir_.path(), "/file")), "content");
    EXPECT_EQ(ContentOf(files->OpenWithin(0, dir_.path(), "/up/file")), "content");
    EXPECT_EQ(files->OpenWithin(0, dir_.path(), "/link").outcome, FileOutcome::kNotRegular);
    EXPECT_FALSE(files->OpenWithin(0, dir_.path(), "/up/etc/passwd").is_found());
  }
}

TEST_F(OthersFilesTest, SaysWhyAFileIsNotOpened) {
  ASSERT_EQ(mkfifo((dir_.path() / "fifo").c_str(), 0600), 0);
  for (const auto& files : {Started({}), std::make_shared<OthersFiles>()}) {
    EXPECT_EQ(files->OpenPath(dir_.path() / "none").outcome, FileOutcome::kUnreachable);
    EXPECT_EQ(files->OpenPath(dir_.path()).outcome, FileOutcome::kNotRegular);
    EXPECT_EQ(files->OpenPath(dir_.path() / "fifo").outcome, FileOutcome::kNotRegular);
    perfdata::Dso other;
    other.inode = 1;
    EXPECT_EQ(files->OpenMapped(0, dir_.path() / "file", other).outcome, FileOutcome::kReplaced);
  }
}

TEST_F(OthersFilesTest, LeavesAFileSystemBehindThatDoesNotAnswer) {
  const auto files = Started(&NeverReturns);
  const std::string path = dir_.path() / "file";
  EXPECT_EQ(files->OpenPath(path).outcome, FileOutcome::kNoAnswer);
  EXPECT_THAT(files->told(), ElementsAre(path + ": its file system did not answer within 1 s"));
}

TEST_F(OthersFilesTest, DoesNotAskAFileSystemAgainThatDidNotAnswer) {
  const auto files = Started(&NeverReturns);
  for (int i = 0; i < 1000; ++i) {
    const OpenedFile opened = files->OpenPath(dir_.path() / std::to_string(i));
    EXPECT_EQ(opened.outcome, FileOutcome::kNoAnswer);
  }
  EXPECT_THAT(files->told(), testing::Contains(HasSubstr("other files")));
}

TEST_F(OthersFilesTest, DoNotCountTheTimeBeforeTheirProcessRuns) {
  constexpr std::chrono::milliseconds kBusy(500);
  FileService service = FileService::Start(
                            [&]() -> Status {
                              std::this_thread::sleep_for(kBusy);
                              return {};
                            },
                            symbol_limits::kCopiedFile)
                            .value();
  const auto opened =
      service.Ask({.path = (dir_.path() / "file").native()}, std::chrono::seconds(60));
  ASSERT_TRUE(opened);
  EXPECT_EQ(ContentOf(*opened), "content");
  EXPECT_LT(service.waited_ns(), std::chrono::nanoseconds(kBusy).count());
}

TEST_F(OthersFilesTest, SurvivesTheEndOfItsProcesses) {
  const auto files = Started([]() -> Status { _exit(1); });
  EXPECT_EQ(files->OpenPath(dir_.path() / "file").outcome, FileOutcome::kUnreachable);
  EXPECT_EQ(files->OpenPath(dir_.path() / "file").outcome, FileOutcome::kUnreachable);
}

class LocalFiles : public testing::Test {
 protected:
  // The file as it would be on a mount of this type.
  std::string Mounts(std::string_view type, std::string_view device) {
    struct statx status = {};
    EXPECT_EQ(statx(directory_.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &status), 0);
    return fmt::format("1 1 0:1 / / rw - rootfs none rw\n{} 1 {} / /x rw shared:1 - {} none rw\n",
                       static_cast<std::uint64_t>(status.stx_mnt_id), device, type);
  }

  UniqueFd directory_{open("/", O_PATH | O_CLOEXEC)};
};

TEST_F(LocalFiles, AreOnDisksAndInMemory) {
  EXPECT_TRUE(IsLocalFile(directory_.get(), Mounts("ext4", "8:1"), ""));
  EXPECT_TRUE(IsLocalFile(directory_.get(), "", Mounts("tmpfs", "0:9")));
  for (const char* type :
       {"fuse", "fuse.sshfs", "fuseblk", "nfs4", "cifs", "autofs", "9p", "new"}) {
    EXPECT_FALSE(IsLocalFile(directory_.get(), Mounts(type, "0:9"), "")) << type;
  }
  EXPECT_FALSE(IsLocalFile(directory_.get(), "", "")) << "an unknown mount";
  EXPECT_FALSE(IsLocalFile(-1, Mounts("ext4", "8:1"), ""));
}

// A user can mount an overlay over FUSE, but only in a namespace of the own.
TEST_F(LocalFiles, OfAnOverlayAreTrustedIfThisProcessSeesIt) {
  const std::string overlay = Mounts("overlay", "0:77");
  EXPECT_FALSE(IsLocalFile(directory_.get(), overlay, ""));
  EXPECT_TRUE(IsLocalFile(directory_.get(), overlay, "5 1 0:77 / /merged rw - overlay o rw\n"));
}

}  // namespace
}  // namespace perftape::record
