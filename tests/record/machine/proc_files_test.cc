// SPDX-License-Identifier: Apache-2.0
#include "record/machine/proc_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

namespace perftape::record {
namespace {

constexpr std::string_view kStat =
    "8568 (cat) R 8509 8509 4461 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 127485\n";
constexpr std::string_view kMaps =
    "7f2003018000-7f200316e000 r-xp 00026000 fe:01 332835                     /usr/lib/libc.so.6";

TEST(TaskStat, ReadsNameAndParent) {
  const TaskStat stat = ParseTaskStat(kStat).value();
  EXPECT_EQ(stat.pid, 8568u);
  EXPECT_EQ(stat.ppid, 8509u);
  EXPECT_EQ(stat.comm, "cat");
  EXPECT_FALSE(stat.is_kernel_thread);
}

TEST(TaskStat, DetectsAKernelThreadByItsFlags) {
  const auto stat = ParseTaskStat("14 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 1\n");
  ASSERT_TRUE(stat);
  EXPECT_TRUE(stat->is_kernel_thread);
}

TEST(TaskStat, ReadsANameWithParenthesesAndNewlines) {
  const auto stat = ParseTaskStat("5 (a) R (b\n) S 4 5 5 0 -1 4194304 0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "a) R (b\n");
  EXPECT_EQ(stat->ppid, 4u);
}

TEST(TaskStat, IsNothingWhereTheLineEndsBeforeItsFlags) {
  const std::size_t flags = kStat.find("4194304");
  for (std::size_t size = 0; size <= flags; ++size) {
    EXPECT_FALSE(ParseTaskStat(kStat.substr(0, size))) << size;
  }
}

TEST(MapsLine, ReadsAllFieldsOfAMapping) {
  const MapsLine line = ParseMapsLine(kMaps).value();
  EXPECT_EQ(line.start, 0x7f2003018000u);
  EXPECT_EQ(line.end, 0x7f200316e000u);
  EXPECT_EQ(line.page_offset, 0x26000u);
  EXPECT_EQ(line.protection, static_cast<std::uint32_t>(PROT_READ | PROT_EXEC));
  EXPECT_EQ(line.flags, static_cast<std::uint32_t>(MAP_PRIVATE));
  EXPECT_EQ(line.device_major, 0xfeu);
  EXPECT_EQ(line.device_minor, 1u);
  EXPECT_EQ(line.inode, 332835u);
  EXPECT_EQ(line.name, "/usr/lib/libc.so.6");
}

TEST(MapsLine, DetectsSharedMemory) {
  const auto line = ParseMapsLine("1000-2000 rw-s 00000000 00:01 7 /dev/zero (deleted)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->flags, static_cast<std::uint32_t>(MAP_SHARED));
  EXPECT_EQ(line->name, "/dev/zero (deleted)");
}

TEST(MapsLine, HasNoNameForNamelessMemory) {
  EXPECT_EQ(ParseMapsLine("1000-2000 rwxp 00000000 00:00 0 ").value().name, "");
  EXPECT_EQ(ParseMapsLine("1000-2000 rwxp 00000000 00:00 0").value().name, "");
}

TEST(MapsLine, IsNothingWhereItEndsBeforeItsInode) {
  const std::size_t inode = kMaps.find("332835");
  for (std::size_t size = 0; size <= inode; ++size) {
    EXPECT_FALSE(ParseMapsLine(kMaps.substr(0, size))) << size;
  }
}

TEST(MapsLine, IsNothingForARangeThatEndsBeforeItStarts) {
  EXPECT_FALSE(ParseMapsLine("2000-1000 r-xp 00000000 00:00 0"));
  EXPECT_FALSE(ParseMapsLine("2000-2000 r-xp 00000000 00:00 0"));
  EXPECT_FALSE(ParseMapsLine("fffffffffffffffff-1 r-xp 00000000 00:00 0"));
}

TEST(MappingName, IsAnonForMemoryWithoutAFile) {
  EXPECT_EQ(MappingName(""), "//anon");
  EXPECT_EQ(MappingName("[anon:v8 code]"), "//anon");
  EXPECT_EQ(MappingName("[anon_shmem:x]"), "/dev/zero (deleted)");
}

TEST(MappingName, UndoesEscapedNewlinesOnly) {
  EXPECT_EQ(MappingName("/tmp/a\\012b\\012"), "/tmp/a\nb\n");
  EXPECT_EQ(MappingName("/tmp/a\\040b"), "/tmp/a\\040b");
}

TEST(MappingName, KeepsTheMarkOfADeletedFile) {
  EXPECT_EQ(MappingName("/usr/bin/x (deleted)"), "/usr/bin/x (deleted)");
}

TEST(NextLine, HandsOutEachLineOnceWithoutItsNewline) {
  std::string_view text = "a\n\nb";
  EXPECT_EQ(NextLine(text), "a");
  EXPECT_EQ(NextLine(text), "");
  EXPECT_EQ(NextLine(text), "b");
  EXPECT_EQ(NextLine(text), std::nullopt);
}

}  // namespace
}  // namespace perftape::record
