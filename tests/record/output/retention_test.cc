// SPDX-License-Identifier: Apache-2.0
#include "record/output/retention.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/file.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kNow = 1'000'000'000'000;

// Files of 10, 20, 30 and 40 bytes, the oldest 4 s old, then 3, 2 and 1.
std::vector<KeptFile> FourFiles() {
  std::vector<KeptFile> files;
  for (std::uint64_t i = 1; i <= 4; ++i) {
    files.push_back(
        {.name = std::to_string(i), .size = 10 * i, .modified_ns = kNow - (5 - i) * 1'000'000'000});
  }
  return files;
}

TEST(FilesToDelete, KeepsAllWithoutLimits) {
  EXPECT_THAT(FilesToDelete(FourFiles(), {}, kNow), IsEmpty());
}

TEST(FilesToDelete, KeepsTheNewestFiles) {
  EXPECT_THAT(FilesToDelete(FourFiles(), {.files = 4}, kNow), IsEmpty());
  EXPECT_THAT(FilesToDelete(FourFiles(), {.files = 3}, kNow), ElementsAre(0));
  EXPECT_THAT(FilesToDelete(FourFiles(), {.files = 1}, kNow), ElementsAre(0, 1, 2));
}

TEST(FilesToDelete, KeepsBytesToTheByte) {
  EXPECT_THAT(FilesToDelete(FourFiles(), {.bytes = 100}, kNow), IsEmpty());
  EXPECT_THAT(FilesToDelete(FourFiles(), {.bytes = 99}, kNow), ElementsAre(0));
  EXPECT_THAT(FilesToDelete(FourFiles(), {.bytes = 90}, kNow), ElementsAre(0));
  EXPECT_THAT(FilesToDelete(FourFiles(), {.bytes = 89}, kNow), ElementsAre(0, 1));
}

TEST(FilesToDelete, KeepsTheNewestFileEvenIfItExceedsALimit) {
  EXPECT_THAT(FilesToDelete(FourFiles(), {.bytes = 1}, kNow), ElementsAre(0, 1, 2));
  EXPECT_THAT(FilesToDelete(FourFiles(), {.age = std::chrono::nanoseconds(1)}, kNow),
              ElementsAre(0, 1, 2));
}

TEST(FilesToDelete, KeepsFilesUpToAnAge) {
  EXPECT_THAT(FilesToDelete(FourFiles(), {.age = std::chrono::seconds(4)}, kNow), IsEmpty());
  EXPECT_THAT(FilesToDelete(FourFiles(), {.age = std::chrono::seconds(3)}, kNow), ElementsAre(0));
}

TEST(FilesToDelete, SkipsFilesInUse) {
  std::vector<KeptFile> files = FourFiles();
  files[0].is_in_use = true;
  EXPECT_THAT(FilesToDelete(files, {.files = 3}, kNow), ElementsAre(1));
}

class Retention : public testing::Test {
 protected:
  std::vector<std::string> Names() {
    const std::vector<KeptFile> files = ListFiles(pattern_).value();
    std::vector<std::string> names;
    for (const KeptFile& file : files) names.push_back(file.name);
    return names;
  }

  TempDir dir_;
  NamePattern pattern_ = NamePattern::Parse(dir_.path() / "r.%n", "box").value();
};

TEST_F(Retention, ListsOnlyRegularFilesOfThePattern) {
  dir_.Write("r.2", "2");
  dir_.Write("r.10", "10");
  dir_.Write("r.10.old", "");
  dir_.Write("other", "");
  mkdir((dir_.path() / "r.3").c_str(), 0700);
  ASSERT_EQ(symlink("other", (dir_.path() / "r.4").c_str()), 0);
  EXPECT_THAT(Names(), ElementsAre("r.2", "r.10"));
}

TEST_F(Retention, DeletesNoFileThatARecorderWrites) {
  dir_.Write("r.1", "");
  UniqueFd fd(open((dir_.path() / "r.1").c_str(), O_RDWR | O_CLOEXEC));
  LockWhileInUse(fd.get());
  const KeptFile file = ListFiles(pattern_).value().front();
  EXPECT_TRUE(file.is_in_use);
  EXPECT_FALSE(DeleteFile(pattern_, file));
  fd.Reset();
  EXPECT_TRUE(DeleteFile(pattern_, file));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(Retention, DeletesNoOtherFileThatHasTheNameNow) {
  dir_.Write("r.1", "");
  const KeptFile file = ListFiles(pattern_).value().front();
  dir_.Write("other", "");
  ASSERT_EQ(rename((dir_.path() / "other").c_str(), (dir_.path() / "r.1").c_str()), 0);
  EXPECT_FALSE(DeleteFile(pattern_, file));
  EXPECT_THAT(Names(), ElementsAre("r.1"));
}

}  // namespace
}  // namespace perftape::record
