// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/clean.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/file.h"
#include "formats/bundle/bundle.h"
#include "formats/bundle/extract.h"
#include "formats/bundle/marker.h"
#include "tests/support/matchers.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::bundle {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kHex = "0123456789abcdef0123456789abcdef01234567";
const std::string kPlace = "usr/bin/ls/" + std::string(kHex);
const std::string kLink = ".build-id/01/" + std::string(kHex.substr(2));

class CleanTest : public testing::Test {
 protected:
  // Writes a file with a marker, as Extract and plain tar do.
  void WriteMarked(const std::string& name, std::string_view content) {
    dir_.Write("cache/" + name, content);
    dir_.Write("cache/" + MarkerOf(name), MarkerText(content.size()));
  }
  void Link(const std::string& name, const std::string& target) {
    fs::create_directories((cache_ / name).parent_path());
    fs::create_symlink(target, cache_ / name);
  }
  // Lists the contents of the cache, including directories.
  std::vector<std::string> Left() {
    std::vector<std::string> left;
    for (const auto& entry : fs::recursive_directory_iterator(cache_)) {
      left.push_back(entry.path().lexically_relative(cache_));
    }
    std::ranges::sort(left);
    return left;
  }

  TempDir dir_;
  fs::path cache_ = dir_ / "cache";
};

TEST_F(CleanTest, UndoesAnExtraction) {
  TarBuilder tar;
  tar.Add({.name = kPlace + "/elf", .content = "slim"});
  tar.Add({.name = kLink, .type = '2', .target = "../../" + kPlace});
  tar.Add({.name = "perf-map/perf-7.map", .content = "map"});
  const auto bundle = Bundle::FromBytes(AsBytes(tar.Bytes()));
  ASSERT_THAT(bundle, IsOk());
  ASSERT_THAT(Extract(*bundle, cache_), IsOk());

  const auto report = Clean(cache_);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->files, 2);
  EXPECT_EQ(report->bytes, 7);
  EXPECT_EQ(report->links, 1);
  EXPECT_THAT(report->kept, IsEmpty());
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(CleanTest, LeavesWhatPerfPutThere) {
  const std::string other = "usr/bin/cat/f" + std::string(kHex.substr(1));
  const std::string other_link = ".build-id/f1/" + std::string(kHex.substr(2));
  dir_.Write("cache/" + other + "/elf", "whole");
  Link(other_link, "../../" + other);
  WriteMarked(kPlace + "/elf", "slim");
  dir_.Write("cache/" + kPlace + "/probes", "of perf probe");
  Link(kLink, "../../" + kPlace);

  const auto report = Clean(cache_);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->files, 1);
  EXPECT_EQ(report->links, 0);  // it still leads to a directory of perf
  EXPECT_TRUE(fs::exists(cache_ / other_link / "elf"));
  EXPECT_TRUE(fs::exists(cache_ / kLink / "probes"));
  EXPECT_FALSE(fs::exists(cache_ / kLink / "elf"));
  EXPECT_FALSE(fs::exists(cache_ / kLink / "elf.perftape"));
}

TEST_F(CleanTest, LeavesAFileThatIsNoLongerTheMarkedOne) {
  WriteMarked(kPlace + "/elf", "slim");
  dir_.Write("cache/" + kPlace + "/elf", "the original, by perf buildid-cache");
  const auto report = Clean(cache_);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->files, 0);
  EXPECT_THAT(report->kept, ElementsAre(kPlace + "/elf"));
  EXPECT_TRUE(fs::exists(cache_ / kPlace / "elf"));
  EXPECT_FALSE(fs::exists(cache_ / kPlace / "elf.perftape"));
}

TEST_F(CleanTest, LeavesEmptyDirectoriesAndDanglingLinksOfOthers) {
  fs::create_directories(cache_ / "usr/bin/empty");
  Link(kLink, "../../gone");
  WriteMarked("perf-map/perf-7.map", "map");
  ASSERT_THAT(Clean(cache_), IsOk());
  EXPECT_THAT(Left(),
              ElementsAre(".build-id", ".build-id/01", kLink, "usr", "usr/bin", "usr/bin/empty"));
}

TEST_F(CleanTest, RemovesAMarkerWithoutItsFile) {
  dir_.Write("cache/a/elf.perftape", MarkerText(4));
  const auto report = Clean(cache_);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->files, 0);
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(CleanTest, LeavesFilesThatAreOnlyCalledLikeMarkers) {
  dir_.Write("cache/elf", "file");
  dir_.Write("cache/elf.perftape", "notes of a user");
  dir_.Write("cache/.perftape", "no name before the dot");
  ASSERT_THAT(Clean(cache_), IsOk());
  EXPECT_THAT(Left(), ElementsAre(".perftape", "elf", "elf.perftape"));
}

TEST_F(CleanTest, FollowsNoSymbolicLink) {
  dir_.Write("outside/elf", "slim");
  dir_.Write("outside/elf.perftape", MarkerText(4));
  fs::create_directories(cache_);
  Link("usr", "../outside");
  Link("elf", "../outside/elf");
  dir_.Write("cache/elf.perftape", MarkerText(4));
  const auto report = Clean(cache_);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->files, 0);
  EXPECT_TRUE(fs::exists(dir_ / "outside/elf"));
  EXPECT_TRUE(fs::is_symlink(cache_ / "usr"));
  EXPECT_TRUE(fs::is_symlink(cache_ / "elf"));
}

TEST_F(CleanTest, FailsWhereThereIsNoDirectory) {
  EXPECT_THAT(Clean(cache_), FailsWith(ErrorCode::kNotFound));
}

}  // namespace
}  // namespace perftape::bundle
