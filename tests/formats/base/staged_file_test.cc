// SPDX-License-Identifier: Apache-2.0
#include "formats/base/staged_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/support/files.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t kOtherUser = 12345;

void Publish(const std::filesystem::path& path, Readers readers, OldFile old) {
  const Result<OutputTarget> target = ResolveOutput(path);
  ASSERT_THAT(target, IsOk());
  Result<StagedFile> file = StagedFile::Create(*target, readers, old);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(WriteAll(file->fd(), AsBytes(std::string_view("new"))), IsOk());
  ASSERT_THAT(file->Publish(), IsOk());
}

TEST(StagedFile, LeavesNothingBehindWhereItIsNotPublished) {
  const TempDir directory;
  {
    const Result<OutputTarget> target = ResolveOutput(directory / "out");
    ASSERT_THAT(target, IsOk());
    const Result<StagedFile> file = StagedFile::Create(*target, Readers::kOwner, OldFile::kReplace);
    ASSERT_THAT(file, IsOk());
    EXPECT_EQ(NamesIn(directory.path()).size(), 1U);
  }
  EXPECT_THAT(NamesIn(directory.path()), IsEmpty());
}

TEST(StagedFile, IsPrivateWhileItIsWrittenWhoeverMayReadItThen) {
  const TempDir directory;
  const Result<OutputTarget> target = ResolveOutput(directory / "out");
  ASSERT_THAT(target, IsOk());
  const Result<StagedFile> file = StagedFile::Create(*target, Readers::kUmask, OldFile::kReplace);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(ModeOf(directory / NamesIn(directory.path()).front()), 0600U);
}

TEST(StagedFile, HasTheModeOfTheFileThatItReplaces) {
  const TempDir directory;
  for (const mode_t mode : {0600U, 0640U, 0644U, 0666U, 0400U}) {
    const auto path = directory.Write("out", "old");
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    Publish(path, Readers::kUmask, OldFile::kReplace);
    EXPECT_EQ(ModeOf(path), mode);
    Publish(path, Readers::kOwner, OldFile::kReplace);
    EXPECT_EQ(ModeOf(path), mode);
    EXPECT_EQ(TextOf(path), "new");
    std::filesystem::remove(path);
  }
}

TEST(StagedFile, HasTheOwnerOfTheFileThatItReplaces) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TempDir directory;
  const auto path = directory.Write("out", "old");
  ASSERT_EQ(chown(path.c_str(), kOtherUser, kOtherUser + 1), 0);
  Publish(path, Readers::kUmask, OldFile::kReplace);
  EXPECT_EQ(StatusOf(path).st_uid, kOtherUser);
  EXPECT_EQ(StatusOf(path).st_gid, kOtherUser + 1);
}

TEST(StagedFile, HasAModeOfItsOwnWhereTheOldFileIsKept) {
  const TempDir directory;
  const auto path = directory.Write("out", "old");
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  Publish(path, Readers::kOwner, OldFile::kKeep);
  EXPECT_EQ(ModeOf(path), 0600U);
  EXPECT_EQ(TextOf(path), "new");
  EXPECT_EQ(ModeOf(directory / "out.old"), 0644U);
  EXPECT_EQ(TextOf(directory / "out.old"), "old");
}

// The owner of the old file may have chosen its mode to read the new content.
TEST(StagedFile, IgnoresAnotherUsersModeInASharedDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes files of other users";
  const TempDir directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 01777), 0);
  const auto path = directory.Write("out", "old");
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(chown(path.c_str(), kOtherUser, kOtherUser), 0);
  Publish(path, Readers::kOwner, OldFile::kReplace);
  EXPECT_EQ(ModeOf(path), 0600U);
  EXPECT_EQ(StatusOf(path).st_uid, 0U);
}

TEST(StagedFile, KeepsTheOldFileBesideTheTargetOfALink) {
  const TempDir directory;
  directory.Write("deep/target", "old");
  std::filesystem::create_symlink("deep/target", directory / "link");
  Publish(directory / "link", Readers::kOwner, OldFile::kKeep);
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("deep", "link"));
  EXPECT_THAT(NamesIn(directory / "deep"), ElementsAre("target", "target.old"));
  EXPECT_EQ(TextOf(directory / "link"), "new");
  EXPECT_EQ(TextOf(directory / "deep/target.old"), "old");
}

// Whatever exists under the names that will be used, no target of a link is changed.
TEST(StagedFile, FollowsNoLinkThatHasTheNameOfTheOldFile) {
  const TempDir directory;
  directory.Write("victim", "precious");
  directory.Write("out", "old");
  std::filesystem::create_symlink("victim", directory / "out.old");
  Publish(directory / "out", Readers::kOwner, OldFile::kKeep);
  EXPECT_EQ(TextOf(directory / "victim"), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(directory / "out.old"));
  EXPECT_EQ(TextOf(directory / "out.old"), "old");
}

TEST(StagedFile, FollowsNoLinkThatGotItsNameMeanwhile) {
  const TempDir directory;
  directory.Write("victim", "precious");
  const Result<OutputTarget> target = ResolveOutput(directory / "out");
  ASSERT_THAT(target, IsOk());
  Result<StagedFile> file = StagedFile::Create(*target, Readers::kOwner, OldFile::kReplace);
  ASSERT_THAT(file, IsOk());
  std::filesystem::create_symlink("victim", directory / "out");
  ASSERT_THAT(file->Publish(), IsOk());
  EXPECT_EQ(TextOf(directory / "victim"), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(directory / "out"));
}

TEST(StagedFile, NamesWhatIsInTheWayOfTheOldFileBeforeTheWork) {
  const TempDir directory;
  directory.Write("out", "old");
  directory.Write("out.old/in/the/way", "");
  const Result<OutputTarget> target = ResolveOutput(directory / "out");
  ASSERT_THAT(target, IsOk());
  EXPECT_THAT(StagedFile::Create(*target, Readers::kOwner, OldFile::kKeep),
              FailsWith(ErrorCode::kIo, HasSubstr("out.old: Is a directory")));
  EXPECT_THAT(StagedFile::Create(*target, Readers::kOwner, OldFile::kReplace), IsOk());
}

TEST(StagedFile, DoesNotLoseTheOldFileWhereItCannotBeKept) {
  const TempDir directory;
  directory.Write("out", "old");
  const Result<OutputTarget> target = ResolveOutput(directory / "out");
  ASSERT_THAT(target, IsOk());
  Result<StagedFile> file = StagedFile::Create(*target, Readers::kOwner, OldFile::kKeep);
  ASSERT_THAT(file, IsOk());
  directory.Write("out.old/in/the/way", "");
  EXPECT_THAT(file->Publish(), FailsWith(ErrorCode::kIo, HasSubstr("out.old")));
  EXPECT_EQ(TextOf(directory / "out"), "old");
}

TEST(StagedFile, NeverReplacesAFileThatAppearedMeanwhile) {
  const TempDir directory;
  const Result<OutputTarget> target = ResolveOutput(directory / "out");
  ASSERT_THAT(target, IsOk());
  {
    Result<StagedFile> file = StagedFile::Create(*target, Readers::kOwner, OldFile::kRefuse);
    ASSERT_THAT(file, IsOk());
    directory.Write("out", "of another");
    EXPECT_THAT(file->Publish(), FailsWith(ErrorCode::kInvalidArgument, HasSubstr("out: exists")));
  }
  EXPECT_EQ(TextOf(directory / "out"), "of another");
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("out"));
}

}  // namespace
}  // namespace perftape
