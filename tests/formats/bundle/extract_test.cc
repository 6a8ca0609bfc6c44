// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/extract.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <stdexcept>

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

// Extracts into a directory "target"; the files beside it must not change.
class ExtractTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(target_);
    dir_.Write("canary", "alive");
    fs::create_directory(dir_ / "outside");
  }
  void TearDown() override {
    EXPECT_EQ(*ReadWholeFile(dir_ / "canary"), "alive");
    EXPECT_TRUE(fs::is_empty(dir_ / "outside"));
    std::set<std::string> beside;
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
      beside.insert(entry.path().filename());
    }
    EXPECT_THAT(beside, ElementsAre("canary", "outside", "target"));
  }

  // Extracts a bundle with an empty manifest and the members of the test.
  Result<ExtractReport> ExtractTar(const ExtractOptions& options = {}) {
    tar_.Add({.name = "manifest.json", .content = R"({"version": 1, "files": []})"});
    auto bundle = Bundle::FromBytes(AsBytes(tar_.Bytes()));
    if (!bundle) return Fail(std::move(bundle).error());
    return Extract(*bundle, target_, options);
  }

  std::string Content(const std::string& name) { return *ReadWholeFile(target_ / name); }

  TempDir dir_;
  fs::path target_ = dir_ / "target";
  TarBuilder tar_;
};

TEST_F(ExtractTest, WritesFilesAndPerfsLinkButNotTheManifest) {
  tar_.Add({.name = kPlace + "/elf", .content = "content"});
  tar_.Add({.name = kLink, .type = '2', .target = "../../" + kPlace});
  const auto report = ExtractTar();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->written, 2);
  EXPECT_EQ(report->bytes, 7);
  EXPECT_EQ(Content(kLink + "/elf"), "content");
  EXPECT_FALSE(fs::exists(target_ / "manifest.json"));
}

TEST_F(ExtractTest, MakesTheDirectory) {
  target_ = target_ / "deeper" / "still";
  tar_.Add({.name = "a", .content = "x"});
  EXPECT_THAT(ExtractTar(), IsOk());
  EXPECT_EQ(Content("a"), "x");
}

TEST_F(ExtractTest, KeepsNoModeOfTheArchive) {
  tar_.Add({.name = "a", .content = "x", .mode = 06777});
  ASSERT_THAT(ExtractTar(), IsOk());
  struct stat status = {};
  ASSERT_EQ(::stat((target_ / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07111u, 0u);
}

TEST_F(ExtractTest, LeavesWhatIsTheSameAsItIs) {
  dir_.Write("target/perf-map/perf-7.map", "map");
  tar_.Add({.name = "perf-map/perf-7.map", .content = "map"});
  const auto report = ExtractTar();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->already_there, 1);
  EXPECT_EQ(report->written, 0);
}

TEST_F(ExtractTest, LeavesAnotherFileOfTheSameBuildId) {
  dir_.Write("target/" + kPlace + "/elf", "the whole binary, which perf has had");
  tar_.Add({.name = kPlace + "/elf", .content = "slim"});
  const auto report = ExtractTar();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->already_there, 1);
  EXPECT_THAT(report->kept, IsEmpty());
}

TEST_F(ExtractTest, ReportsDifferencesAndReplacesIfAsked) {
  dir_.Write("target/perf-map/perf-7.map", "of another process");
  tar_.Add({.name = "perf-map/perf-7.map", .content = "map"});
  auto report = ExtractTar();
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->kept, ElementsAre("perf-map/perf-7.map"));
  EXPECT_EQ(Content("perf-map/perf-7.map"), "of another process");

  report = ExtractTar({.if_exists = IfExists::kReplace});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(Content("perf-map/perf-7.map"), "map");
}

TEST_F(ExtractTest, MendsALinkThatLeadsNowhere) {
  fs::create_directories(target_ / ".build-id/01");
  fs::create_symlink("../../gone", target_ / kLink);
  tar_.Add({.name = kPlace + "/elf", .content = "content"});
  tar_.Add({.name = kLink, .type = '2', .target = "../../" + kPlace});
  ASSERT_THAT(ExtractTar(), IsOk());
  EXPECT_EQ(Content(kLink + "/elf"), "content");
}

TEST_F(ExtractTest, NeverWritesWhereANameLeads) {
  tar_.Add({.name = "../canary", .content = "dead"});
  tar_.Add({.name = "a/../../canary", .content = "dead"});
  tar_.Add({.name = "..\\canary", .content = "a name like others here"});
  tar_.Add({.name = (dir_ / "outside/x").native(), .content = "dead"});
  EXPECT_THAT(ExtractTar(), IsOk());
  EXPECT_TRUE(fs::exists(target_ / "..\\canary"));
}

TEST_F(ExtractTest, NeverWritesThroughALinkOfTheArchive) {
  tar_.Add({.name = "out", .type = '2', .target = "../outside"});
  tar_.Add({.name = "out/x", .content = "dead"});
  tar_.Add({.name = "in", .type = '2', .target = "elsewhere"});
  tar_.Add({.name = "in/x", .content = "below the target, and no further"});
  (void)ExtractTar();
}

TEST_F(ExtractTest, NeverWritesThroughALinkOfTheTarget) {
  fs::create_symlink("../outside", target_ / "usr");
  tar_.Add({.name = kPlace + "/elf", .content = "dead"});
  EXPECT_THAT(ExtractTar(), FailsWith(ErrorCode::kInvalidArgument, testing::HasSubstr("link")));
  EXPECT_THAT(ExtractTar({.if_exists = IfExists::kReplace}),
              FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(ExtractTest, ReplacesALinkButNeverItsTarget) {
  fs::create_symlink("../canary", target_ / "file");
  tar_.Add({.name = "file", .content = "dead"});
  auto report = ExtractTar();
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->kept, ElementsAre("file"));
  ASSERT_THAT(ExtractTar({.if_exists = IfExists::kReplace}), IsOk());
  EXPECT_EQ(Content("file"), "dead");
}

TEST_F(ExtractTest, RejectsHardLinks) {
  tar_.Add({.name = "hard", .type = '1', .target = "../canary"});
  tar_.Add({.name = "hard", .content = "dead"});
  EXPECT_THAT(ExtractTar(), IsOk());
}

TEST_F(ExtractTest, StopsWhereAFileIsInTheWayOfADirectory) {
  tar_.Add({.name = "a", .content = "x"});
  tar_.Add({.name = "a/b", .content = "x"});
  EXPECT_THAT(ExtractTar(), FailsWith(ErrorCode::kInvalidArgument, testing::HasSubstr("a/b")));
}

TEST_F(ExtractTest, StopsWhereADirectoryIsInTheWayOfAFile) {
  fs::create_directories(target_ / "a");
  tar_.Add({.name = "a", .content = "x"});
  EXPECT_THAT(ExtractTar(), FailsWith(ErrorCode::kIo));
}

TEST_F(ExtractTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(::mkfifo((target_ / "a").c_str(), 0600), 0);
  tar_.Add({.name = "a", .content = "x"});
  const auto report = ExtractTar();
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->kept, ElementsAre("a"));
}

TEST_F(ExtractTest, LeavesNoTemporaryFile) {
  tar_.Add({.name = "a", .content = "x"});
  ASSERT_THAT(ExtractTar(), IsOk());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(target_)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("a", "a.perftape"));
}

// If a bundle has no manifest, one is made from the members' names.
Bundle BundleOf(TarBuilder& tar) {
  auto bundle = Bundle::FromBytes(AsBytes(tar.Bytes()));
  if (!bundle) throw std::runtime_error(bundle.error().message);
  return *std::move(bundle);
}

TEST_F(ExtractTest, MarksItsFilesAndIgnoresArchivedMarkers) {
  tar_.Add({.name = kPlace + "/elf", .content = "content"});
  tar_.Add({.name = kPlace + "/elf.perftape", .content = "of another bundle"});
  const auto report = ExtractTar();
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->written, 1);
  EXPECT_EQ(SizeInMarker(Content(kPlace + "/elf.perftape")), 7);
}

TEST_F(ExtractTest, DoesNotMarkWhatWasThere) {
  dir_.Write("target/perf-map/perf-7.map", "map");
  tar_.Add({.name = "perf-map/perf-7.map", .content = "map"});
  ASSERT_THAT(ExtractTar(), IsOk());
  EXPECT_FALSE(fs::exists(target_ / "perf-map/perf-7.map.perftape"));
}

TEST_F(ExtractTest, SkipsWhatTheMachineHasWithItsLink) {
  tar_.Add({.name = kPlace + "/elf", .content = "slim"});
  tar_.Add({.name = kLink, .type = '2', .target = "../../" + kPlace});
  tar_.Add({.name = "usr/bin/other/f" + std::string(kHex.substr(1)) + "/elf", .content = "x"});
  const auto report = Extract(BundleOf(tar_), target_,
                              {.is_on_machine = [](const BundledFile& file, Bytes content) {
                                return file.path == "/usr/bin/ls" && AsText(content) == "slim";
                              }});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->on_machine, 1);
  EXPECT_EQ(report->written, 1);
  EXPECT_FALSE(fs::exists(target_ / "usr/bin/ls"));
  EXPECT_FALSE(fs::exists(target_ / ".build-id"));
}

TEST_F(ExtractTest, KeepsTheLinkWhereADebugFileIsWritten) {
  tar_.Add({.name = kPlace + "/elf", .content = "slim"});
  tar_.Add({.name = kPlace + "/debug", .content = "names"});
  tar_.Add({.name = kLink, .type = '2', .target = "../../" + kPlace});
  const auto report =
      Extract(BundleOf(tar_), target_, {.is_on_machine = [](const BundledFile& file, Bytes) {
                return file.kind == FileKind::kElf;
              }});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->on_machine, 1);
  EXPECT_EQ(Content(kLink + "/debug"), "names");
  EXPECT_FALSE(fs::exists(target_ / kLink / "elf"));
}

TEST_F(ExtractTest, LeavesABuildIdThatTheCacheHasUnderAnotherPath) {
  const std::string other = "opt/ls/" + std::string(kHex);
  dir_.Write("target/" + other + "/elf", "the whole binary");
  fs::create_directories(target_ / ".build-id/01");
  fs::create_symlink("../../" + other, target_ / kLink);
  tar_.Add({.name = kPlace + "/elf", .content = "slim"});
  tar_.Add({.name = kLink, .type = '2', .target = "../../" + kPlace});
  const auto report = Extract(BundleOf(tar_), target_);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->already_there, 1);
  EXPECT_FALSE(fs::exists(target_ / "usr"));
  EXPECT_EQ(Content(kLink + "/elf"), "the whole binary");
}

}  // namespace
}  // namespace perftape::bundle
