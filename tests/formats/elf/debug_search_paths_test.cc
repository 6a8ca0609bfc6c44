// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/debug_search_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace perftape::elf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const BuildId kId = *BuildId::FromHex("0123456789");

TEST(SearchPathsIn, HaveEachLayoutsDebugFile) {
  EXPECT_THAT(SearchPathsIn("/d", kId, BuildIdFile::kDebug, "/bin/x"),
              ElementsAre("/d/.build-id/01/23456789/debug", "/d/.build-id/01/23456789.debug",
                          "/d/bin/x/0123456789/debug", "/d/0123456789/debuginfo"));
}

TEST(SearchPathsIn, HaveEachLayoutsBinary) {
  const TempDir dir;
  dir.Write("0123456789/x", "");
  EXPECT_THAT(SearchPathsIn(dir.path(), kId, BuildIdFile::kImage, "/bin/x"),
              ElementsAre(dir / ".build-id/01/23456789/elf", dir / ".build-id/01/23456789",
                          dir / "bin/x/0123456789/elf", dir / "0123456789/executable",
                          dir / "0123456789/x"));
}

TEST(SearchPathsIn, HaveKallsymsAndVdsosOfPerfsCache) {
  EXPECT_THAT(
      SearchPathsIn("/d", kId, BuildIdFile::kKallsyms, "[kernel.kallsyms]"),
      ElementsAre("/d/.build-id/01/23456789/kallsyms", "/d/[kernel.kallsyms]/0123456789/kallsyms"));
  EXPECT_THAT(SearchPathsIn("/d", kId, BuildIdFile::kVdso, "[vdso]"),
              Contains("/d/[vdso]/0123456789/vdso"));
}

TEST(SearchPathsIn, StayInTheDirectory) {
  EXPECT_THAT(SearchPathsIn("/d", kId, BuildIdFile::kKallsyms, "/../../etc"),
              ElementsAre("/d/.build-id/01/23456789/kallsyms"));
}

TEST(SearchPathsIn, AreNoneWithoutABuildId) {
  EXPECT_THAT(SearchPathsIn("/d", {}, BuildIdFile::kDebug, "/bin/x"), IsEmpty());
}

TEST(SearchPathsOfDebugLink, AreThoseOfGdb) {
  EXPECT_THAT(SearchPathsOfDebugLink("x.debug", "/usr/bin/x", "/root", {"/usr/lib/debug"}),
              ElementsAre("/root/usr/bin/x.debug", "/root/usr/bin/.debug/x.debug",
                          "/usr/lib/debug/usr/bin/x.debug"));
}

TEST(SearchPathsOfDebugLink, LeadOutOfNoRoot) {
  EXPECT_THAT(SearchPathsOfDebugLink("../../x.debug", "/../../bin/x", "/root", {"/d"}),
              ElementsAre("/root/bin/x.debug", "/root/bin/.debug/x.debug", "/d/bin/x.debug"));
  EXPECT_THAT(SearchPathsOfDebugLink("x.debug", "../../bin/x", "/root", {}),
              ElementsAre("/root/bin/x.debug", "/root/bin/.debug/x.debug"));
  EXPECT_THAT(SearchPathsOfDebugLink("..", "/bin/x", "/", {}), IsEmpty());
  EXPECT_THAT(SearchPathsOfDebugLink("directory/", "/bin/x", "/", {}), IsEmpty());
}

TEST(SearchPathsOfDebugAltLink, AreWhereTheNameLeadsAndWhereDwzPutsIt) {
  const SearchedDirectories searched = {.debug_dirs = {"/d"}};
  EXPECT_THAT(SearchPathsOfDebugAltLink("/d/x/shared", "/a/b.debug", searched).paths,
              ElementsAre("/d/x/shared", "/d/.dwz/shared"));
  EXPECT_THAT(SearchPathsOfDebugAltLink("../../.dwz/shared", "/d/a/b/c.debug", searched).paths,
              ElementsAre("/d/.dwz/shared", "/d/.dwz/shared"));
  EXPECT_THAT(SearchPathsOfDebugAltLink("shared", "/a/b.debug", {}).paths,
              ElementsAre("/a/shared"));
}

TEST(SearchPathsOfDebugAltLink, AreInNoOtherDirectory) {
  const LinkSearchPaths found =
      SearchPathsOfDebugAltLink("/dev/watchdog", "/home/user/program", {.debug_dirs = {"/d"}});
  EXPECT_THAT(found.paths, ElementsAre("/d/.dwz/watchdog"));
  EXPECT_EQ(found.outside, "/dev/watchdog");
  EXPECT_THAT(SearchPathsOfDebugAltLink("..", "/d/program", {.debug_dirs = {"/d"}}).paths,
              IsEmpty());
}

}  // namespace
}  // namespace perftape::elf
