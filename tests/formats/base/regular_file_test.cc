// SPDX-License-Identifier: Apache-2.0
#include "formats/base/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

// Counts how often a file is opened for reading or writing.
class OpenCounter {
 public:
  explicit OpenCounter(const std::filesystem::path& path)
      : inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    inotify_add_watch(inotify_.get(), path.c_str(), IN_OPEN);
  }
  std::size_t count() const {
    alignas(inotify_event) char events[4096];
    const ssize_t got = read(inotify_.get(), events, sizeof events);
    return got <= 0 ? 0 : static_cast<std::size_t>(got) / sizeof(inotify_event);
  }

 private:
  UniqueFd inotify_;
};

TEST(RegularFile, IsOpenedAndMappedAndRead) {
  const TempDir dir;
  const std::filesystem::path path = dir.Write("file", "content");
  const OpenCounter opened(path);
  EXPECT_TRUE(OpenRegularFile(path));
  EXPECT_GT(opened.count(), 0U);
  EXPECT_EQ(AsText(MapRegularFile(path)->bytes()), "content");
  EXPECT_EQ(*ReadRegularFile(path), "content");
}

TEST(RegularFile, IsFoundThroughASymbolicLink) {
  const TempDir dir;
  dir.Write("file", "content");
  std::filesystem::create_symlink("file", dir / "link");
  EXPECT_EQ(*ReadRegularFile(dir / "link"), "content");
}

TEST(RegularFile, OfUnknownSizeIsReadToItsEnd) {
  EXPECT_TRUE(ReadRegularFile("/proc/self/status")->starts_with("Name:"));
}

TEST(RegularFile, IsRefusedBeyondTheLimit) {
  const TempDir dir;
  const auto text = ReadRegularFile(dir.Write("file", std::string(100, 'x')), 99);
  EXPECT_THAT(text, FailsWith(ErrorCode::kCorrupt));
}

TEST(RegularFile, IsWhatAFifoIsNotWhichIsNeverOpened) {
  const TempDir dir;
  const std::filesystem::path fifo = dir / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const OpenCounter opened(fifo);
  const auto refused = OpenRegularFile(fifo);
  ASSERT_THAT(refused, FailsWith(ErrorCode::kUnsupported));
  EXPECT_EQ(refused.error().message, fifo.native() + ": not a regular file");
  EXPECT_THAT(MapRegularFile(fifo), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(ReadRegularFile(fifo), FailsWith(ErrorCode::kUnsupported));
  EXPECT_EQ(opened.count(), 0U);
}

TEST(RegularFile, IsNoDeviceAndNoDirectory) {
  EXPECT_THAT(OpenRegularFile("/dev/null"), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(OpenRegularFile("/"), FailsWith(ErrorCode::kUnsupported));
}

TEST(RegularFile, ReportsWhyItCannotBeOpened) {
  const TempDir dir;
  const std::filesystem::path absent = dir / "absent";
  const auto refused = OpenRegularFile(absent);
  ASSERT_THAT(refused, FailsWith(ErrorCode::kNotFound));
  EXPECT_EQ(refused.error().message, absent.native() + ": No such file or directory");
  EXPECT_THAT(OpenRegularFile(dir / std::string(256, 'x')), FailsWith(ErrorCode::kIo));
}

TEST(RegularFile, IsReopenedAlsoWithoutItsName) {
  const TempDir dir;
  const std::filesystem::path path = dir.Write("file", "content");
  const UniqueFd path_only(open(path.c_str(), O_PATH | O_CLOEXEC));
  std::filesystem::remove(path);
  const auto file = ReopenRegularFile(path_only, "file");
  ASSERT_TRUE(file);
  EXPECT_EQ(*ReadToEnd(file->get(), "file", 100), "content");
}

}  // namespace
}  // namespace perftape
