// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/debug_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "formats/base/file_number.h"
#include "formats/bundle/bundle_writer.h"
#include "formats/bundle/content_hash.h"
#include "formats/elf/debug_link.h"
#include "tests/support/elf_builder.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::HasSubstr;

const BuildId kAbc = BuildId::From(AsBytes("abc"));  // 61 62 63

// Searches no directories, only files at their recorded paths.
DebugFile FindLocally(const std::string& filename, const BuildId& build_id) {
  return DebugFiles({}, {}).Find({.filename = filename, .build_id = build_id});
}

TEST(DebugFiles, UsesTheRecordedPathOfEqualBuildId) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf("abc"));
  const DebugFile found = FindLocally(path, kAbc);
  ASSERT_TRUE(found.image);
  EXPECT_EQ(found.image->build_id(), kAbc);
  EXPECT_FALSE(found.debug);
  EXPECT_EQ(found.source, path);
}

TEST(DebugFiles, ReportsBothBuildIdsIfTheyDiffer) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf("xyz"));
  const DebugFile found = FindLocally(path, kAbc);
  EXPECT_FALSE(found.image);
  EXPECT_EQ(found.miss, Miss::kWrongBuildId);
  EXPECT_EQ(found.problem, path + ": build id 78797a, but the recorded one is 616263");
}

TEST(DebugFiles, RefusesAFileWithoutABuildIdWhereOneWasRecorded) {
  const TempDir dir;
  const DebugFile found = FindLocally(dir.Write("program", SmallElf("")), kAbc);
  EXPECT_EQ(found.miss, Miss::kWrongBuildId);
  EXPECT_THAT(found.problem, HasSubstr("build id absent"));
}

TEST(DebugFiles, ReportsFilesWithoutRecordedBuildId) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf("xyz"));
  const DebugFile found = FindLocally(path, {});
  EXPECT_TRUE(found.image);
  EXPECT_EQ(found.source, path + ", build id unchecked");
}

TEST(DebugFiles, LeavesThePathAloneWhereThisIsNotTheRecordingsMachine) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf("abc"));
  const DebugFile found = DebugFiles({}, {}).Find(
      {.filename = path, .build_id = kAbc, .not_local = "it was recorded on host moon"});
  EXPECT_EQ(found.miss, Miss::kNoFile);
  EXPECT_EQ(found.problem, "");
  EXPECT_THAT(found.tried, Contains(path + " of this machine: it was recorded on host moon"));
}

TEST(DebugFiles, UsesTheRecordedPathBelowSymfs) {
  const TempDir dir;
  const std::string path = dir.Write("root/usr/bin/program", SmallElf("abc"));
  const DebugFiles files(dir / "root", {});
  EXPECT_EQ(files.Find({.filename = "/usr/bin/program", .build_id = kAbc}).source, path);
  EXPECT_TRUE(files.Find({.filename = "/usr/bin/program"}).image);
  EXPECT_FALSE(files.Find({.filename = "/../../usr/bin/elsewhere"}).image);
}

TEST(DebugFiles, FindsTheImageInEveryLayoutByBuildId) {
  for (const char* name :
       {".build-id/61/6263/elf", ".build-id/61/6263", "usr/bin/program/616263/elf",
        "616263/executable", "616263/program", "616263/whatever"}) {
    const TempDir dir;
    const std::string path = dir.Write(name, SmallElf("abc"));
    const DebugFile found =
        DebugFiles({}, {dir.path()}).Find({.filename = "/usr/bin/program", .build_id = kAbc});
    EXPECT_EQ(found.source, path);
  }
}

TEST(DebugFiles, FindsTheDebugFileInEveryLayoutByBuildId) {
  for (const char* name : {".build-id/61/6263.debug", ".build-id/61/6263/debug", "616263/debuginfo",
                           "nonexistent/program/616263/debug"}) {
    const TempDir dir;
    dir.Write(name, SmallElf("abc"));
    const std::string path = dir.Write("program", SmallElf("abc"));
    const DebugFiles files({}, {dir.path()});
    EXPECT_TRUE(files.Find({.filename = "/nonexistent/program", .build_id = kAbc}).image) << name;
    if (std::string_view(name).starts_with("non")) continue;
    const DebugFile found = files.Find({.filename = path, .build_id = kAbc});
    EXPECT_TRUE(found.debug) << name;
    EXPECT_EQ(found.source, path + " with " + (dir / name).native());
  }
}

TEST(DebugFiles, DoesNotTrustTheNameOfADebugFile) {
  const TempDir dir;
  dir.Write("debug/.build-id/61/6263.debug", SmallElf("xyz"));
  const DebugFile found =
      DebugFiles({}, {dir / "debug"})
          .Find({.filename = dir.Write("program", SmallElf("abc")), .build_id = kAbc});
  EXPECT_TRUE(found.image);
  EXPECT_FALSE(found.debug);
  EXPECT_THAT(found.tried, Contains(HasSubstr("build id 78797a, but the recorded one is 616263")));
}

TEST(DebugFiles, SearchesDeletedFilesOnlyByBuildId) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf("abc"));
  EXPECT_TRUE(FindLocally(path + " (deleted)", kAbc).image);
  EXPECT_FALSE(FindLocally(path + " (deleted)", {}).image);
}

TEST(DebugFiles, ReportsNoProblemIfNoFileExists) {
  const DebugFile found = DebugFiles("/nonexistent", {"/nonexistent"})
                              .Find({.filename = "/nonexistent", .build_id = kAbc});
  EXPECT_EQ(found.miss, Miss::kNoFile);
  EXPECT_EQ(found.problem, "");
  EXPECT_THAT(found.tried, Contains("/nonexistent: nothing with build id 616263"));
}

// Returns an ELF file with a section that links to another file, and a build id, if not empty.
std::vector<std::byte> ElfWith(const std::string& section, const std::string& contents,
                               std::string_view build_id = "abc") {
  ElfBuilder elf;
  elf.AddSection({.name = section, .contents = contents});
  if (!build_id.empty()) elf.SetBuildId(build_id);
  return elf.Build();
}

// Returns a file whose debug file is `debug`, named program.debug.
std::vector<std::byte> LinkedTo(const std::vector<std::byte>& debug) {
  std::string link = "program.debug\0\0\0...."s;
  const std::uint32_t crc = elf::DebugLinkCrc(debug);
  std::memcpy(&link[16], &crc, sizeof crc);
  return ElfWith(".gnu_debuglink", link);
}

TEST(DebugFiles, FollowsADebugLinkWhereGdbDoes) {
  const std::vector<std::byte> debug = SmallElf("");
  for (const char* name : {"bin/program.debug", "bin/.debug/program.debug"}) {
    const TempDir dir;
    const std::string path = dir.Write("bin/program", LinkedTo(debug));
    const std::string debug_path = dir.Write(name, debug);
    EXPECT_EQ(FindLocally(path, kAbc).source, path + " with " + debug_path);
  }
  const TempDir dir;
  const std::filesystem::path path = dir.Write("bin/program", LinkedTo(debug));
  const std::string below = "debug" + path.parent_path().native() + "/program.debug";
  const std::string debug_path = dir.Write(below, debug);
  EXPECT_EQ(DebugFiles({}, {dir / "debug"}).Find({.filename = path, .build_id = kAbc}).source,
            path.native() + " with " + debug_path);
}

TEST(DebugFiles, FollowsADebugLinkBelowSymfs) {
  const TempDir dir;
  const std::vector<std::byte> debug = SmallElf("");
  dir.Write("root/bin/program", LinkedTo(debug));
  dir.Write("root/usr/lib/debug/bin/program.debug", debug);
  EXPECT_TRUE(DebugFiles(dir / "root", {}).Find({.filename = "/bin/program"}).debug);
}

TEST(DebugFiles, RejectsADebugFileWithAnotherChecksum) {
  const TempDir dir;
  const std::string path = dir.Write("program", LinkedTo(SmallElf("")));
  dir.Write("program.debug", SmallElf("xyz"));
  const DebugFile found = FindLocally(path, kAbc);
  EXPECT_TRUE(found.image);
  EXPECT_FALSE(found.debug);
  EXPECT_THAT(found.tried, Contains(HasSubstr("its CRC differs from the one in .gnu_debuglink")));
}

TEST(DebugFiles, FollowsNoDebugLinkOnAMachineThatIsNotTheRecordings) {
  const TempDir dir;
  const std::vector<std::byte> debug = SmallElf("");
  dir.Write("ids/616263/executable", LinkedTo(debug));
  dir.Write("program.debug", debug);
  const DebugFile found = DebugFiles({}, {dir / "ids"})
                              .Find({.filename = dir / "program",
                                     .build_id = kAbc,
                                     .not_local = "it was recorded on host moon"});
  EXPECT_TRUE(found.image);
  EXPECT_FALSE(found.debug);
}

const std::string kSharedLink = "../.dwz/shared\0xyz"s;

TEST(DebugFiles, FindsTheDwzFileBesideItsUser) {
  const TempDir dir;
  const std::string path = dir.Write("bin/program", ElfWith(".gnu_debugaltlink", kSharedLink));
  EXPECT_FALSE(FindLocally(path, kAbc).supplementary);
  dir.Write(".dwz/shared", SmallElf("xyz"));
  EXPECT_TRUE(FindLocally(path, kAbc).supplementary);
}

TEST(DebugFiles, PrefersTheDwzFileOfTheDebugFile) {
  const TempDir dir;
  const std::string path = dir.Write("bin/program", SmallElf("abc"));
  dir.Write("debug/616263/debuginfo", ElfWith(".gnu_debugaltlink", kSharedLink));
  dir.Write("debug/.dwz/shared", SmallElf("xyz"));
  const DebugFile found =
      DebugFiles({}, {dir / "debug"}).Find({.filename = path, .build_id = kAbc});
  EXPECT_TRUE(found.debug);
  EXPECT_TRUE(found.supplementary);
}

TEST(DebugFiles, FindsTheDwzFileByBuildId) {
  const TempDir dir;
  const std::string path = dir.Write("bin/program", ElfWith(".gnu_debugaltlink", kSharedLink));
  dir.Write("debug/.build-id/78/797a.debug", SmallElf("xyz"));
  const DebugFiles files({}, {dir / "debug"});
  EXPECT_TRUE(files.Find({.filename = path, .build_id = kAbc}).supplementary);
}

TEST(DebugFiles, RejectsADwzFileOfAnotherBuild) {
  const TempDir dir;
  const std::string path = dir.Write("bin/program", ElfWith(".gnu_debugaltlink", kSharedLink));
  dir.Write(".dwz/shared", SmallElf("uvw"));
  EXPECT_FALSE(FindLocally(path, kAbc).supplementary);
}

// Returns a file with a section of debug information and a symbol table.
std::vector<std::byte> WithDwarf() {
  return ElfWith(".debug_info", "unit");
}

TEST(DebugFiles, FollowsDwzLinksInSearchPathsOnly) {
  const TempDir dir;
  const std::string outside = dir.Write("outside/shared", SmallElf("xyz"));
  dir.Write("ids/616263/executable", ElfWith(".gnu_debugaltlink", outside + "\0xyz"s));
  const DebugFiles files({}, {dir / "ids"});
  const DebugFile found = files.Find(
      {.filename = "/bin/program", .build_id = kAbc, .not_local = "it was recorded elsewhere"});
  ASSERT_TRUE(found.image);
  EXPECT_FALSE(found.supplementary);
  EXPECT_THAT(found.tried, Contains(outside + ": outside the directories that are searched, named "
                                              "by .gnu_debugaltlink"));
  EXPECT_TRUE(files.Find({.filename = "/bin/program", .build_id = kAbc}).supplementary);
}

TEST(DebugFiles, NamesTheReasonOfAPathThatIsTooLong) {
  const std::string path = "/bin/" + std::string(256, 'x');
  const DebugFile found = FindLocally(path, kAbc);
  EXPECT_EQ(found.miss, Miss::kNoFile);
  EXPECT_EQ(found.problem, path + ": File name too long");
}

TEST(DebugFiles, ReadsLinesFromLaterSourcesOfEqualBuild) {
  const TempDir dir;
  // The sections of a slim copy are empty.
  const std::string image = dir.Write("ids/616263/executable", ElfWith(".debug_info", ""));
  const std::string later = dir.Write("program", WithDwarf());
  const DebugFiles files({}, {dir / "ids"});
  const DebugFile found = files.Find({.filename = later, .build_id = kAbc});
  ASSERT_TRUE(found.image);
  EXPECT_EQ(found.image->path(), image);
  ASSERT_TRUE(found.lines);
  EXPECT_EQ(found.lines->path(), later);
  EXPECT_EQ(found.source, image + ", lines from " + later);
  EXPECT_FALSE(files.Find({.filename = later, .build_id = kAbc, .wants_lines = false}).lines);
}

TEST(DebugFiles, ReadsNoLinesOfAnotherBuild) {
  const TempDir dir;
  dir.Write("ids/616263/executable", SmallElf("abc"));
  const std::string later = dir.Write("program", ElfWith(".debug_info", "unit", "xyz"));
  const DebugFile found = DebugFiles({}, {dir / "ids"}).Find({.filename = later, .build_id = kAbc});
  EXPECT_FALSE(found.lines);
  EXPECT_THAT(found.tried, Contains(later + ": build id 78797a, but the recorded one is 616263"));
}

TEST(DebugFiles, LooksForNoMoreLinesWhereTheFirstSourceHasThem) {
  const TempDir dir;
  dir.Write("ids/616263/executable", WithDwarf());
  const std::string later = dir.Write("program", WithDwarf());
  EXPECT_FALSE(DebugFiles({}, {dir / "ids"}).Find({.filename = later, .build_id = kAbc}).lines);
}

struct InBundle {
  bundle::BundledFile about;
  std::vector<std::byte> content;
};

SharedBundle BundleOf(const TempDir& dir, std::vector<InBundle> files) {
  const std::string path = dir.Write("bundle.tar.zst", "");
  auto writer = bundle::BundleWriter::Create(UniqueFd(open(path.c_str(), O_RDWR)), 1);
  EXPECT_THAT(writer, IsOk());
  for (InBundle& file : files) {
    if (!file.about.missing.empty()) {
      writer->AddMissing(std::move(file.about));
      continue;
    }
    EXPECT_THAT(writer->Add(std::move(file.about), file.content), IsOk());
  }
  EXPECT_THAT(std::move(*writer).Finish({}), IsOk());
  auto opened = bundle::Bundle::Open(path);
  EXPECT_THAT(opened, IsOk());
  return std::make_shared<const bundle::Bundle>(*std::move(opened));
}

TEST(DebugFiles, FindsABundledFileByBuildId) {
  const TempDir dir;
  const SharedBundle bundles[] = {
      BundleOf(dir, {{{.path = "/old/program", .build_id = kAbc, .kept = bundle::Kept::kSymbols},
                      SmallElf("abc")}})};
  const DebugFile found =
      DebugFiles({}, {}).Find({.filename = "/new/program", .build_id = kAbc, .bundles = bundles});
  ASSERT_TRUE(found.image);
  EXPECT_EQ(found.image->build_id(), kAbc);
}

TEST(DebugFiles, FindsABundledFileByPath) {
  const TempDir dir;
  const SharedBundle bundles[] = {
      BundleOf(dir, {{{.path = "/program", .kept = bundle::Kept::kSymbols}, SmallElf("")}})};
  const DebugFiles files({}, {});
  EXPECT_TRUE(files.Find({.filename = "/program", .bundles = bundles}).image);
  EXPECT_FALSE(files.Find({.filename = "/other", .bundles = bundles}).image);
  const DebugFile other =
      files.Find({.filename = "/program", .build_id = kAbc, .bundles = bundles});
  EXPECT_FALSE(other.image);
}

TEST(DebugFiles, FindsTheBundledFileOfAPathThatWasMapped) {
  const TempDir dir;
  const auto kept = bundle::Kept::kSymbols;
  const FileNumber first{.device = 1, .inode = 2}, second{.device = 1, .inode = 3};
  const SharedBundle bundles[] = {BundleOf(
      dir, {{{.path = "/program", .kept = kept, .number = first}, ElfWith(".first", "x", "")},
            {{.path = "/program", .kept = kept, .number = second}, ElfWith(".second", "x", "")}})};
  const auto find = [&](std::uint64_t instance) {
    return DebugFiles({}, {}).Find(
        {.filename = "/program", .instance = instance, .bundles = bundles});
  };
  const DebugFile found = find(InstanceOf(second));
  ASSERT_TRUE(found.image);
  EXPECT_TRUE(found.image->FindSection(".second"));
  EXPECT_FALSE(find(InstanceOf({.device = 1, .inode = 4})).image);
  EXPECT_THAT(find(0).problem, HasSubstr("nothing shows which one was recorded"));
}

TEST(DebugFiles, UsesAFileOfTheRecordedPathOnlyIfItHasTheRecordedContent) {
  const TempDir dir;
  const std::string path = dir.Write("program", ElfWith(".debug_info", "unit", ""));
  const std::string content = bundle::ContentHash(AsBytes(*ReadWholeFile(path)));
  const SharedBundle bundles[] = {BundleOf(
      dir, {{{.path = path, .kept = bundle::Kept::kSymbols, .content = content}, SmallElf("")}})};
  const BinaryQuery query{.filename = path, .bundles = bundles};
  const DebugFile same = DebugFiles({}, {}).Find(query);
  EXPECT_TRUE(same.lines);
  EXPECT_EQ(same.source, "bundle: " + path + ", lines from " + path);
  dir.Write("program", ElfWith(".debug_info", "other", ""));
  const DebugFile other = DebugFiles({}, {}).Find(query);
  EXPECT_TRUE(other.image);
  EXPECT_FALSE(other.lines);
  EXPECT_THAT(other.tried, Contains(path + ": its content differs from that of the recorded file"));
}

TEST(DebugFiles, UsesNoFileThatTheRecorderFoundChanged) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf(""));
  for (const FileNumber& number : {FileNumber{}, FileNumber{.device = 1, .inode = 2}}) {
    const SharedBundle bundles[] = {
        BundleOf(dir, {{{.path = path, .missing = "changed", .number = number}, {}}})};
    const DebugFile found = DebugFiles({}, {}).Find({.filename = path, .bundles = bundles});
    EXPECT_EQ(found.image.has_value(), !number.is_known());
  }
}

TEST(DebugFiles, UsesNoOtherFileOfAPathThatSeveralFilesHad) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf(""));
  const DebugFile found = DebugFiles({}, {}).Find(
      {.filename = path, .instance = InstanceOf({.device = 1, .inode = 1})});
  EXPECT_FALSE(found.image);
  EXPECT_THAT(found.problem, HasSubstr("several files had this path"));
}

TEST(DebugFiles, FindsBundledDebugAndDwzFiles) {
  const TempDir dir;
  const BuildId xyz = BuildId::From(AsBytes("xyz"));
  const auto debug = bundle::FileKind::kDebug;
  const auto whole = bundle::Kept::kWhole;
  const SharedBundle bundles[] = {BundleOf(
      dir, {{{.path = "/bin/program", .build_id = kAbc, .kept = whole}, SmallElf("abc")},
            {{.path = "/bin/program", .kind = debug, .build_id = kAbc, .kept = whole},
             ElfWith(".gnu_debugaltlink", kSharedLink)},
            {{.path = "/usr/lib/debug/.dwz/shared", .kind = debug, .build_id = xyz, .kept = whole},
             SmallElf("xyz")}})};
  const DebugFile found =
      DebugFiles({}, {}).Find({.filename = "/bin/program", .build_id = kAbc, .bundles = bundles});
  EXPECT_TRUE(found.image);
  EXPECT_TRUE(found.debug);
  ASSERT_TRUE(found.supplementary);
  EXPECT_EQ(found.supplementary->build_id(), xyz);
}

TEST(DebugFiles, FindsADebugFileBesideTheBundledImage) {
  const TempDir dir;
  const auto whole = bundle::Kept::kWhole;
  const SharedBundle bundles[] = {BundleOf(
      dir,
      {{{.path = "/program", .kept = whole}, SmallElf("")},
       {{.path = "/program", .kind = bundle::FileKind::kDebug, .kept = whole}, SmallElf("")}})};
  const DebugFiles files({}, {});
  EXPECT_TRUE(files.Find({.filename = "/program", .bundles = bundles}).debug);
}

}  // namespace
}  // namespace perftape::symbolize
