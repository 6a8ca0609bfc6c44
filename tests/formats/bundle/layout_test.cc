// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/layout.h"

#include <gmock/gmock.h>

namespace perftape::bundle {
namespace {

using testing::Eq;
using testing::Optional;

constexpr std::string_view kHex = "0123456789abcdef0123456789abcdef01234567";

BundledFile File(std::string path, FileKind kind) {
  return {.path = std::move(path), .kind = kind, .build_id = *BuildId::FromHex(kHex)};
}

TEST(BundleLayout, IsThatOfPerfsBuildIdCache) {
  EXPECT_EQ(MemberName(File("/usr/bin/ls", FileKind::kElf)),
            "usr/bin/ls/" + std::string(kHex) + "/elf");
  EXPECT_EQ(MemberName(File("/usr/bin/ls", FileKind::kDebug)),
            "usr/bin/ls/" + std::string(kHex) + "/debug");
  EXPECT_EQ(MemberName(File("[kernel.kallsyms]", FileKind::kKallsyms)),
            "[kernel.kallsyms]/" + std::string(kHex) + "/kallsyms");
  EXPECT_EQ(MemberName(File("[vdso]", FileKind::kVdso)), "[vdso]/" + std::string(kHex) + "/vdso");
}

TEST(BundleLayout, LinksABuildIdToItsDirectory) {
  const BuildIdLink link = LinkTo("usr/bin/ls/01/elf", *BuildId::FromHex(kHex));
  EXPECT_EQ(link.name, ".build-id/01/" + std::string(kHex.substr(2)));
  EXPECT_EQ(link.target, "../../usr/bin/ls/01");
}

TEST(BundleLayout, HasPathsForFilesWithoutABuildId) {
  EXPECT_EQ(MemberName({.path = "/usr/bin/ls"}), "no-build-id/usr/bin/ls/elf");
  EXPECT_EQ(MemberName({.path = "/tmp/perf-7.map", .kind = FileKind::kPerfMap, .pid = 7}),
            "perf-map/perf-7.map");
  EXPECT_EQ(MemberName({.path = "/tmp/jit-7.dump", .kind = FileKind::kJitDump, .pid = 7}),
            "jitdump/7/jit-7.dump");
}

TEST(BundleLayout, KeepsRecordedPathsBelowTheArchive) {
  EXPECT_EQ(MemberName({.path = "/a/../../etc/passwd"}), "no-build-id/a/_../_../etc/passwd/elf");
  EXPECT_EQ(MemberName({.path = "//anon"}), "no-build-id/anon/elf");
  EXPECT_EQ(MemberName({.path = ""}), "no-build-id/unnamed/elf");
  EXPECT_EQ(MemberName({.path = "/tmp/..", .kind = FileKind::kJitDump, .pid = 7}), "jitdump/7/_..");
}

TEST(BundleLayout, KeepsItsOwnPathsFreeOfRecordedPaths) {
  EXPECT_EQ(MemberName(File("/.build-id/aa/bb", FileKind::kElf)),
            ".build-id_/aa/bb/" + std::string(kHex) + "/elf");
  EXPECT_EQ(MemberName(File("/manifest.json", FileKind::kElf)),
            "manifest.json_/" + std::string(kHex) + "/elf");
}

TEST(BundleLayout, ParsesItsOwnPaths) {
  for (const BundledFile& file :
       {File("/usr/bin/ls", FileKind::kElf), File("/usr/bin/ls", FileKind::kDebug),
        File("[kernel.kallsyms]", FileKind::kKallsyms), File("[vdso]", FileKind::kVdso)}) {
    const auto found = FileAt(MemberName(file));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->path, file.path);
    EXPECT_EQ(found->kind, file.kind);
    EXPECT_EQ(found->build_id, file.build_id);
  }
}

TEST(BundleLayout, ParsesPathsOfOlderPerf) {
  const auto found = FileAt("usr/bin/ls/" + std::string(kHex));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "/usr/bin/ls");
  EXPECT_EQ(FileAt("[kernel.kallsyms]/" + std::string(kHex))->kind, FileKind::kKallsyms);
}

TEST(BundleLayout, RejectsAnyOtherPath) {
  EXPECT_FALSE(FileAt("usr/bin/ls/elf"));
  EXPECT_FALSE(FileAt("usr/bin/cafe"));
  EXPECT_FALSE(FileAt(std::string(kHex) + "/elf"));
  EXPECT_FALSE(FileAt("usr/bin/ls/" + std::string(kHex) + "/probes"));
  EXPECT_FALSE(FileAt(".build-id/01/" + std::string(kHex.substr(2))));
}

TEST(CleanName, LeavesOutWhatLeadsNowhere) {
  EXPECT_THAT(CleanName("./a//b/./c/"), Optional(Eq("a/b/c")));
  EXPECT_THAT(CleanName("a\\..\\b"), Optional(Eq("a\\..\\b")));  // one unusual component
}

TEST(CleanName, RefusesWhatLeadsOut) {
  EXPECT_FALSE(CleanName("/etc/passwd"));
  EXPECT_FALSE(CleanName(".."));
  EXPECT_FALSE(CleanName("a/../../b"));
  EXPECT_FALSE(CleanName(""));
  EXPECT_FALSE(CleanName("./"));
  EXPECT_FALSE(CleanName(std::string_view("a\0b", 3)));
  EXPECT_FALSE(CleanName(std::string(256, 'x')));
  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += "x/";
  EXPECT_FALSE(CleanName(deep));
}

TEST(StaysInside, FollowsTheTargetByItsParts) {
  EXPECT_TRUE(StaysInside(".build-id/aa/bb", "../../usr/bin/ls/aabb"));
  EXPECT_FALSE(StaysInside(".build-id/aa/bb", "../../../etc"));
  EXPECT_FALSE(StaysInside(".build-id/aa/bb", "../../x/../../etc/../home"));
  EXPECT_FALSE(StaysInside("link", "/etc"));
  EXPECT_FALSE(StaysInside("link", ".."));
  EXPECT_FALSE(StaysInside("link", ""));
}

}  // namespace
}  // namespace perftape::bundle
