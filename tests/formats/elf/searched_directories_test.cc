// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/searched_directories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::elf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(IsBelow, ComparesWholeComponentsOfNormalPaths) {
  EXPECT_TRUE(IsBelow("/a/b", "/a"));
  EXPECT_TRUE(IsBelow("/a/b", "/a/"));
  EXPECT_TRUE(IsBelow("/a", "/"));
  EXPECT_TRUE(IsBelow("/x/../a/b", "/a/./"));
  EXPECT_FALSE(IsBelow("/ab", "/a"));
  EXPECT_FALSE(IsBelow("/a/../b", "/a"));
  EXPECT_FALSE(IsBelow("/a", "/a/b"));
}

TEST(IsBelow, AcceptsTheCurrentDirectory) {
  EXPECT_TRUE(IsBelow("debug/x", "debug"));
  EXPECT_TRUE(IsBelow("debug/x", "."));
  EXPECT_TRUE(IsBelow(std::filesystem::current_path() / "debug/x", "./debug"));
  EXPECT_FALSE(IsBelow("../x", "."));
  EXPECT_FALSE(IsBelow("x", ""));
  EXPECT_FALSE(IsBelow("", "."));
}

TEST(SearchPathsOfLink, AreBesideTheFile) {
  EXPECT_THAT(SearchPathsOfLink("x", "/a", "/a", {}).paths, ElementsAre("/a/x"));
  EXPECT_THAT(SearchPathsOfLink("/a/b/x", "/a", "/a", {}).paths, ElementsAre("/a/b/x"));
  EXPECT_EQ(SearchPathsOfLink("x", "/a", "/a", {}).Refusal(), "");
}

TEST(SearchPathsOfLink, AreBelowWhatIsSearched) {
  const SearchedDirectories searched = {.roots = {"/sysroot"}, .debug_dirs = {"/usr/lib/debug"}};
  EXPECT_THAT(SearchPathsOfLink("/usr/lib/debug/.dwz/x", "/a", "/a", searched).paths,
              ElementsAre("/usr/lib/debug/.dwz/x", "/sysroot/usr/lib/debug/.dwz/x"));
  EXPECT_THAT(SearchPathsOfLink("../x", "/sysroot/a/b", "/sysroot/a/b", searched).paths,
              ElementsAre("/sysroot/a/x", "/sysroot/sysroot/a/x"));
  EXPECT_THAT(SearchPathsOfLink("/anywhere/x", "/a", "/a", {.roots = {"/"}}).paths,
              ElementsAre("/anywhere/x"));
}

TEST(SearchPathsOfLink, AreNoneOutside) {
  const SearchedDirectories searched = {.debug_dirs = {"/usr/lib/debug"}};
  for (const char* name : {"/dev/watchdog", "../../dev/watchdog",
                           "/usr/lib/debug/../../../dev/watchdog", "/home/../dev/watchdog"}) {
    const LinkSearchPaths found = SearchPathsOfLink(name, "/home/user", "/home/user", searched);
    EXPECT_THAT(found.paths, IsEmpty());
    EXPECT_EQ(found.Refusal(), "/dev/watchdog: outside the directories that are searched");
  }
}

TEST(SearchPathsOfLink, LeadOutOfNoRoot) {
  EXPECT_THAT(SearchPathsOfLink("/../../x", "/a", "/a", {.roots = {"/sysroot"}}).paths,
              ElementsAre("/sysroot/x"));
}

TEST(SearchPathsOfLink, AreEmptyForRelativeNamesWithoutADirectory) {
  EXPECT_THAT(SearchPathsOfLink("x", "", "", {.roots = {"/"}}).paths, IsEmpty());
  EXPECT_THAT(SearchPathsOfLink("", "/a", "/a", {}).paths, IsEmpty());
  EXPECT_THAT(SearchPathsOfLink("x/", "/a", "/a", {}).paths, IsEmpty());
}

}  // namespace
}  // namespace perftape::elf
