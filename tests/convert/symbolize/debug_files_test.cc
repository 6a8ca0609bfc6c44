// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/debug_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::HasSubstr;

const BuildId kAbc = BuildId::From(AsBytes("abc"));  // 61 62 63

TEST(DebugFiles, TakesTheRecordedPathWhereItsBuildIdAgrees) {
  const TempDir dir;
  const DebugFile found = DebugFiles({}, {}).Find(dir.Write("program", SmallElf("abc")), kAbc);
  ASSERT_TRUE(found.image);
  EXPECT_EQ(found.image->build_id(), kAbc);
  EXPECT_FALSE(found.debug);
}

TEST(DebugFiles, TellsBothBuildIdsWhereTheyDiffer) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf("xyz"));
  const DebugFile found = DebugFiles({}, {}).Find(path, kAbc);
  EXPECT_FALSE(found.image);
  EXPECT_EQ(found.miss, Miss::kWrongBuildId);
  EXPECT_EQ(found.problem, path + ": build id 78797a, recorded was 616263");
}

TEST(DebugFiles, RefusesAFileWithoutABuildIdWhereOneWasRecorded) {
  const TempDir dir;
  const DebugFile found = DebugFiles({}, {}).Find(dir.Write("program", SmallElf("")), kAbc);
  EXPECT_EQ(found.miss, Miss::kWrongBuildId);
  EXPECT_THAT(found.problem, HasSubstr("build id absent"));
}

TEST(DebugFiles, TakesTheFileAsItIsWhereNoBuildIdWasRecorded) {
  const TempDir dir;
  EXPECT_TRUE(DebugFiles({}, {}).Find(dir.Write("program", SmallElf("xyz")), {}).image);
}

TEST(DebugFiles, FindsTheImageInTheCacheWhenTheFileHasBeenReplaced) {
  const TempDir dir;
  dir.Write("cache/.build-id/61/6263/elf", SmallElf("abc"));
  const DebugFile found =
      DebugFiles({}, dir / "cache").Find(dir.Write("program", SmallElf("xyz")), kAbc);
  ASSERT_TRUE(found.image);
  EXPECT_EQ(found.image->build_id(), kAbc);
}

TEST(DebugFiles, AddsTheDebugFileOfTheBuildId) {
  const TempDir dir;
  dir.Write("debug/.build-id/61/6263.debug", SmallElf("abc"));
  const DebugFile found =
      DebugFiles(dir / "debug", {}).Find(dir.Write("program", SmallElf("abc")), {});
  EXPECT_TRUE(found.image);
  EXPECT_TRUE(found.debug);
}

TEST(DebugFiles, DoesNotTrustTheNameOfADebugFile) {
  const TempDir dir;
  dir.Write("debug/.build-id/61/6263.debug", SmallElf("xyz"));
  const DebugFile found =
      DebugFiles(dir / "debug", {}).Find(dir.Write("program", SmallElf("abc")), kAbc);
  EXPECT_TRUE(found.image);
  EXPECT_FALSE(found.debug);
}

TEST(DebugFiles, UsesADebugFileAloneWhereTheImageIsGone) {
  const TempDir dir;
  dir.Write("debug/.build-id/61/6263.debug", SmallElf("abc"));
  EXPECT_TRUE(DebugFiles(dir / "debug", {}).Find("/nonexistent", kAbc).image);
}

TEST(DebugFiles, LooksForADeletedFileOnlyWhereTheBuildIdCanTell) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf("abc"));
  EXPECT_TRUE(DebugFiles({}, {}).Find(path + " (deleted)", kAbc).image);
  EXPECT_FALSE(DebugFiles({}, {}).Find(path + " (deleted)", {}).image);
}

TEST(DebugFiles, HasNoProblemToTellWhereSimplyNothingIsThere) {
  const DebugFile found = DebugFiles("/nonexistent", "/nonexistent").Find("/nonexistent", kAbc);
  EXPECT_EQ(found.miss, Miss::kNoFile);
  EXPECT_EQ(found.problem, "");
}

}  // namespace
}  // namespace perftape
