// SPDX-License-Identifier: Apache-2.0
#include "formats/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "tests/support/mapped_file.h"
#include "tests/support/matchers.h"
#include "tests/support/stdin_from.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(MappedFile, ShowsTheBytesOfAFile) {
  const TempDir directory;
  const Result<MappedFile> file = MapFile(directory.Write("a", "some bytes"));
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(AsText(file->bytes()), "some bytes");
}

TEST(MappedFile, OfAnEmptyFileIsEmpty) {
  const TempDir directory;
  const Result<MappedFile> file = MapFile(directory.Write("a", ""));
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->bytes(), IsEmpty());
}

TEST(MappedFile, ReadsAProcFileOfUnknownSize) {
  const Result<MappedFile> file = MapFile("/proc/self/status");
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(AsText(file->bytes()), HasSubstr("Pid:"));
}

TEST(MappedFile, DoesNotOpenADirectory) {
  const TempDir directory;
  EXPECT_THAT(MapFile(directory.path()), FailsWith(ErrorCode::kIo, HasSubstr("Is a directory")));
}

TEST(MappedFile, ReadsAPipeToItsEnd) {
  const std::string text(200'000, 'x');  // more than a pipe holds
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  const Result<MappedFile> file = MappedFile::FromInput(STDIN_FILENO, "stdin");
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(AsText(file->bytes()), text);
}

TEST(MappedFile, ReadsStdinFromItsCurrentOffset) {
  const TempDir directory;
  const UniqueFd half_read(open(directory.Write("a", "headrest").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(lseek(half_read.get(), 4, SEEK_SET), 4);
  const StdinFrom redirected(half_read.get());
  const Result<MappedFile> file = MappedFile::FromInput(STDIN_FILENO, "stdin");
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(AsText(file->bytes()), "rest");
}

TEST(MappedFile, MovesWithItsBytes) {
  const TempDir directory;
  Result<MappedFile> file = MapFile(directory.Write("a", "bytes"));
  ASSERT_THAT(file, IsOk());
  const MappedFile moved = *std::move(file);
  EXPECT_EQ(AsText(moved.bytes()), "bytes");
}

TEST(ReadWholeFile, StopsBeyondItsLimit) {
  const TempDir directory;
  EXPECT_THAT(ReadWholeFile(directory.Write("a", "12345"), 4), FailsWith(ErrorCode::kCorrupt));
}

TEST(Duplicate, HasTheSameFileAndOffset) {
  const TempDir directory;
  const UniqueFd file(open(directory.Write("a", "some bytes").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd second = Duplicate(file.get());
  ASSERT_TRUE(second);
  EXPECT_EQ(lseek(file.get(), 5, SEEK_SET), 5);
  EXPECT_EQ(lseek(second.get(), 0, SEEK_CUR), 5);
  EXPECT_NE(fcntl(second.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Duplicate, OfNoDescriptorIsEmpty) {
  EXPECT_FALSE(Duplicate(-1));
  EXPECT_EQ(errno, EBADF);
}

TEST(UniqueFd, ClosesWhatItOwned) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  {
    UniqueFd reading(ends[0]);
    UniqueFd other(ends[1]);
    other = std::move(reading);  // closes its old end
    EXPECT_EQ(other.get(), ends[0]);
    EXPECT_EQ(fcntl(ends[1], F_GETFD), -1);
  }
  EXPECT_EQ(fcntl(ends[0], F_GETFD), -1);
}

}  // namespace
}  // namespace perftape
