// SPDX-License-Identifier: Apache-2.0
#include "formats/base/truncation.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "formats/base/file.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::Contains;
using testing::Each;
using testing::Not;

const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

class Truncation : public testing::Test {
 protected:
  MappedFile MapPages(std::size_t pages) {
    path_ = dir_.Write("file", std::string(pages * kPage, 'x'));
    return *MappedFile::Open(path_);
  }
  void CutTo(std::size_t size) { std::filesystem::resize_file(path_, size); }

  TempDir dir_;
  std::filesystem::path path_;
};

TEST_F(Truncation, GivesZerosForWhatWasCutOff) {
  const MappedFile file = MapPages(4);
  CutTo(kPage + 1);
  EXPECT_FALSE(file.was_truncated());
  EXPECT_THAT(file.bytes().subspan(2 * kPage), Each(std::byte{0}));
  EXPECT_TRUE(file.was_truncated());
  EXPECT_EQ(file.bytes()[kPage], std::byte{'x'});
}

TEST_F(Truncation, IsNotSeenWhereOnlyWhatIsLeftIsRead) {
  const MappedFile file = MapPages(2);
  CutTo(kPage);
  EXPECT_THAT(file.bytes().first(kPage), Each(std::byte{'x'}));
  EXPECT_FALSE(file.was_truncated());
  EXPECT_THAT(TruncatedFiles(), Not(Contains(path_.native())));
}

TEST_F(Truncation, IsListedByNameAfterClosing) {
  {
    const MappedFile file = MapPages(1);
    CutTo(0);
    EXPECT_EQ(file.bytes()[0], std::byte{0});
    EXPECT_THAT(TruncatedFiles(), Contains(path_.native()));
  }
  EXPECT_THAT(TruncatedFiles(), Contains(path_.native()).Times(1));
}

TEST_F(Truncation, StaysWithTheFileThatIsMoved) {
  MappedFile file = MapPages(1);
  const MappedFile moved = std::move(file);
  CutTo(0);
  EXPECT_EQ(moved.bytes()[0], std::byte{0});
  EXPECT_TRUE(moved.was_truncated());
}

TEST_F(Truncation, IsForgottenWhenAnotherFileIsMappedThere) {
  {
    const MappedFile file = MapPages(1);
    CutTo(0);
    EXPECT_EQ(file.bytes()[0], std::byte{0});
  }
  EXPECT_FALSE(MapPages(1).was_truncated());
}

TEST_F(Truncation, IsOutlivedByManyThreadsAtOnce) {
  const MappedFile file = MapPages(64);
  CutTo(0);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_THAT(file.bytes(), Each(std::byte{0})); });
  }
}

using TruncationDeathTest = Truncation;

TEST_F(TruncationDeathTest, StillEndsTheProgramWhereNothingGuards) {
  const MappedFile guarded = MapPages(1);
  const UniqueFd fd(open(dir_.Write("other", "x").c_str(), O_RDONLY | O_CLOEXEC));
  void* const unguarded = mmap(nullptr, 2 * kPage, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  ASSERT_NE(unguarded, MAP_FAILED);
  const auto read_behind = [&] { return static_cast<volatile const char*>(unguarded)[kPage]; };
  EXPECT_DEATH(static_cast<void>(read_behind()), "");
  munmap(unguarded, 2 * kPage);
}

}  // namespace
}  // namespace perftape
