// SPDX-License-Identifier: Apache-2.0
#include "formats/base/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/support/files.h"
#include "tests/support/matchers.h"
#include "tests/support/stdout_to.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(OutputFile, IsThereUnderItsNameOnlyAfterCommit) {
  const TempDir directory;
  Result<OutputFile> file = OutputFile::Create(directory / "out");
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("text"), IsOk());
  EXPECT_FALSE(std::filesystem::exists(directory / "out"));
  EXPECT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("out"));
  EXPECT_EQ(TextOf(directory / "out"), "text");
}

TEST(OutputFile, LeavesNothingBehindWhenItWasNotCommitted) {
  const TempDir directory;
  {
    Result<OutputFile> file = OutputFile::Create(directory / "out");
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT(file->Write(std::string(100'000, 'x')), IsOk());  // more than the buffer
  }
  EXPECT_THAT(NamesIn(directory.path()), IsEmpty());
}

TEST(OutputFile, RefusesAFileThatExists) {
  const TempDir directory;
  const auto path = directory.Write("out", "old");
  EXPECT_THAT(OutputFile::Create(path),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("exists; -f replaces it")));
  EXPECT_EQ(TextOf(path), "old");
}

TEST(OutputFile, ReplacesAFileOnlyWhenItIsComplete) {
  const TempDir directory;
  const auto path = directory.Write("out", "old");
  Result<OutputFile> file = OutputFile::Create(path, IfExists::kReplace);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("new"), IsOk());
  EXPECT_EQ(TextOf(path), "old");
  EXPECT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_EQ(TextOf(path), "new");
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("out"));
}

TEST(OutputFile, IsAsReadableAsTheUmaskAllows) {
  const TempDir directory;
  const mode_t before = umask(027);
  Result<OutputFile> file = OutputFile::Create(directory / "out");
  umask(before);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_EQ(ModeOf(directory / "out"), 0640U);
}

TEST(OutputFile, OfSymbolsIsForItsOwnerAlone) {
  const TempDir directory;
  Result<OutputFile> file =
      OutputFile::Create(directory / "out", IfExists::kRefuse, Readers::kOwner);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_EQ(ModeOf(directory / "out"), 0600U);
}

TEST(OutputFile, WritesStraightToADeviceAndNeverRenamesOverIt) {
  const TempDir directory;
  const auto null = MemoryDevice(directory, 3);
  if (!null) GTEST_SKIP() << "no device can be made in " << directory.path();
  Result<OutputFile> file = OutputFile::Create(*null);  // exists, and needs no -f
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("text"), IsOk());
  EXPECT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_TRUE(std::filesystem::is_character_file(*null));
  EXPECT_LE(NamesIn(directory.path()).size(), 1U);
}

TEST(OutputFile, WritesBehindWhatStdoutHasUnderEachOfItsNames) {
  const TempDir directory;
  const UniqueFd out(open((directory / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  // A link as /dev/stdout, which a bug must not remove.
  std::filesystem::create_symlink("/proc/self/fd/1", directory / "stdout");
  {
    const StdoutTo redirected(out.get());
    for (const std::string& name :
         {std::string("-"), std::string(directory / "stdout"), std::string("/proc/self/fd/1")}) {
      Result<OutputFile> file = OutputFile::Create(name);
      ASSERT_THAT(file, IsOk());
      EXPECT_THAT(file->Write("text "), IsOk());
      EXPECT_THAT(std::move(*file).Commit(), IsOk());
    }
  }
  EXPECT_EQ(TextOf(directory / "out"), "text text text ");
  EXPECT_THAT(NamesIn(directory.path()), ElementsAre("out", "stdout"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "stdout"));
}

TEST(OutputFile, ReplacesTheFileAtTheEndOfALinkAndKeepsTheLink) {
  const TempDir directory;
  directory.Write("deep/target", "old");
  std::filesystem::create_symlink("deep/target", directory / "link");
  EXPECT_THAT(OutputFile::Create(directory / "link"), FailsWith(ErrorCode::kInvalidArgument));
  Result<OutputFile> file = OutputFile::Create(directory / "link", IfExists::kReplace);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("new"), IsOk());
  EXPECT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(TextOf(directory / "deep/target"), "new");
}

TEST(OutputFile, WritesIntoANamedPipe) {
  const TempDir directory;
  const auto path = MakeFifo(directory / "fifo");
  const UniqueFd reading(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  Result<OutputFile> file = OutputFile::Create(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("text"), IsOk());
  EXPECT_THAT(std::move(*file).Commit(), IsOk());
  std::array<char, 8> got = {};
  EXPECT_EQ(read(reading.get(), got.data(), got.size()), 4);
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(OutputFile, DoesNotReplaceADirectory) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "out");
  EXPECT_THAT(OutputFile::Create(directory / "out", IfExists::kReplace),
              FailsWith(ErrorCode::kIo, HasSubstr("Is a directory")));
}

TEST(OutputFile, ReportsAFullDiskAtCommit) {
  const TempDir directory;
  const auto full = MemoryDevice(directory, 7);
  if (!full) GTEST_SKIP() << "no device can be made in " << directory.path();
  Result<OutputFile> file = OutputFile::Create(*full);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("text"), IsOk());  // buffered
  EXPECT_THAT(std::move(*file).Commit(), FailsWith(ErrorCode::kIo, HasSubstr("No space left")));
}

TEST(OutputFile, ReportsAFullDiskAtAFullBuffer) {
  const TempDir directory;
  const auto full = MemoryDevice(directory, 7);
  if (!full) GTEST_SKIP() << "no device can be made in " << directory.path();
  Result<OutputFile> file = OutputFile::Create(*full);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write(std::string(1 << 20, 'x')),
              FailsWith(ErrorCode::kIo, HasSubstr("/full: write: No space left")));
}

TEST(OutputFile, NeedsADirectoryThatItMayWriteTo) {
  // Not even root can make files in /sys.
  EXPECT_THAT(OutputFile::Create("/sys/out"), FailsWith(ErrorCode::kPermission));
}

TEST(OutputFile, NeedsADirectoryThatIsThere) {
  const TempDir directory;
  EXPECT_THAT(OutputFile::Create(directory / "absent/out"),
              FailsWith(ErrorCode::kNotFound, HasSubstr("absent/out")));
}

}  // namespace
}  // namespace perftape
