// SPDX-License-Identifier: Apache-2.0
#include "formats/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/stdin_from.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string TextOf(const std::filesystem::path& path) {
  return ReadWholeFile(path).value_or("<unreadable>");
}

std::vector<std::string> NamesIn(const TempDir& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

TEST(MappedFile, ShowsTheBytesOfAFile) {
  const TempDir directory;
  const Result<MappedFile> file = MappedFile::Open(directory.Write("a", "some bytes"));
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(AsText(file->bytes()), "some bytes");
}

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const TempDir directory;
  const Result<MappedFile> file = MappedFile::Open(directory.Write("a", ""));
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->bytes(), IsEmpty());
}

TEST(MappedFile, ReadsAFileOfProcWhoseSizeIsNotKnown) {
  const Result<MappedFile> file = MappedFile::Open("/proc/self/status");
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(AsText(file->bytes()), HasSubstr("Pid:"));
}

TEST(MappedFile, DoesNotOpenADirectory) {
  const TempDir directory;
  EXPECT_THAT(MappedFile::Open(directory.path()),
              FailsWith(ErrorCode::kIo, HasSubstr("Is a directory")));
}

TEST(MappedFile, NamesTheFileThatIsMissing) {
  const TempDir directory;
  EXPECT_THAT(MappedFile::Open(directory / "absent"),
              FailsWith(ErrorCode::kNotFound, HasSubstr("absent: No such file")));
}

TEST(MappedFile, TakesAllThatComesThroughAPipe) {
  const std::string text(200'000, 'x');  // more than a pipe holds
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  const Result<MappedFile> file = MappedFile::Open("-");
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(AsText(file->bytes()), text);
}

TEST(MappedFile, TakesStdinFromWhereItStands) {
  const TempDir directory;
  const UniqueFd half_read(open(directory.Write("a", "headrest").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(lseek(half_read.get(), 4, SEEK_SET), 4);
  const StdinFrom redirected(half_read.get());
  const Result<MappedFile> file = MappedFile::Open("-");
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(AsText(file->bytes()), "rest");
}

TEST(MappedFile, MovesWithItsBytes) {
  const TempDir directory;
  Result<MappedFile> file = MappedFile::Open(directory.Write("a", "bytes"));
  ASSERT_THAT(file, IsOk());
  const MappedFile moved = *std::move(file);
  EXPECT_EQ(AsText(moved.bytes()), "bytes");
}

TEST(ReadWholeFile, StopsBeyondItsLimit) {
  const TempDir directory;
  EXPECT_THAT(ReadWholeFile(directory.Write("a", "12345"), 4), FailsWith(ErrorCode::kCorrupt));
}

TEST(OutputFile, IsThereUnderItsNameOnlyAfterCommit) {
  const TempDir directory;
  Result<OutputFile> file = OutputFile::Create(directory / "out");
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("text"), IsOk());
  EXPECT_FALSE(std::filesystem::exists(directory / "out"));
  EXPECT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_THAT(NamesIn(directory), ElementsAre("out"));
  EXPECT_EQ(TextOf(directory / "out"), "text");
}

TEST(OutputFile, LeavesNothingBehindWhenItWasNotCommitted) {
  const TempDir directory;
  {
    Result<OutputFile> file = OutputFile::Create(directory / "out");
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT(file->Write(std::string(100'000, 'x')), IsOk());  // more than is collected
  }
  EXPECT_THAT(NamesIn(directory), IsEmpty());
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
  EXPECT_THAT(NamesIn(directory), ElementsAre("out"));
}

TEST(OutputFile, IsAsReadableAsTheUmaskAllows) {
  const TempDir directory;
  const mode_t before = umask(027);
  Result<OutputFile> file = OutputFile::Create(directory / "out");
  umask(before);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT(std::move(*file).Commit(), IsOk());
  struct stat status = {};
  ASSERT_EQ(stat((directory / "out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(OutputFile, WritesStraightToADeviceAndNeverRenamesOverIt) {
  Result<OutputFile> file = OutputFile::Create("/dev/null");  // exists, and needs no -f
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("text"), IsOk());
  EXPECT_THAT(std::move(*file).Commit(), IsOk());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFile, WritesIntoANamedPipe) {
  const TempDir directory;
  const auto path = directory / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
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

TEST(OutputFile, TellsOfAFullDiskAtCommit) {
  Result<OutputFile> file = OutputFile::Create("/dev/full");
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write("text"), IsOk());  // collected
  EXPECT_THAT(std::move(*file).Commit(), FailsWith(ErrorCode::kIo, HasSubstr("No space left")));
}

TEST(OutputFile, TellsOfAFullDiskOnceItsCollectionIsFull) {
  Result<OutputFile> file = OutputFile::Create("/dev/full");
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Write(std::string(1 << 20, 'x')),
              FailsWith(ErrorCode::kIo, HasSubstr("/dev/full: write: No space left")));
}

TEST(OutputFile, NeedsADirectoryThatItMayWriteTo) {
  // Not even root makes files in /sys.
  EXPECT_THAT(OutputFile::Create("/sys/out"), FailsWith(ErrorCode::kPermission));
}

TEST(OutputFile, NeedsADirectoryThatIsThere) {
  const TempDir directory;
  EXPECT_THAT(OutputFile::Create(directory / "absent/out"),
              FailsWith(ErrorCode::kNotFound, HasSubstr("absent/out")));
}

TEST(UniqueFd, ClosesWhatItOwned) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  {
    UniqueFd reading(ends[0]);
    UniqueFd other(ends[1]);
    other = std::move(reading);  // closes the end that it had
    EXPECT_EQ(other.get(), ends[0]);
    EXPECT_EQ(fcntl(ends[1], F_GETFD), -1);
  }
  EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
}

}  // namespace
}  // namespace perftape
