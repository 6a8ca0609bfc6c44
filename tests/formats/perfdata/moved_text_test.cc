// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/moved_text.h"

#include <gtest/gtest.h>

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kHuge = std::uint64_t{2} << 20;

TEST(MovedText, IsInMemoryWithoutAFile) {
  for (const char* name : {"//anon", "", "/anon_hugepage (deleted)", "/memfd:text (deleted)",
                           "[anon:text]", "/SYSV00000000 (deleted)"}) {
    EXPECT_TRUE(MayHoldMovedText(name, 2)) << name;
    EXPECT_FALSE(IsTextOfFile(name)) << name;
  }
  for (const char* name : {"/usr/bin/app", "[heap]", "[stack]", "[vdso]", "/tmp/jit-7.dump"}) {
    EXPECT_FALSE(MayHoldMovedText(name, 2)) << name;
  }
  EXPECT_TRUE(MayHoldMovedText("/huge/libhugetlbfs.tmp.5 (deleted)", 2 | kMapHugeTlb));
  EXPECT_TRUE(IsTextOfFile("/usr/bin/app"));
  EXPECT_FALSE(IsTextOfFile("/tmp/jit-7.dump"));
}

TEST(MovedText, HasTheOffsetOfWhatItReplaces) {
  const TextMapping replaced[] = {
      {.start = 0x4000, .end = 0x6000, .page_offset = 0x1000, .file = 1},
      {.start = 0x6000, .end = 0x7000, .page_offset = 0x3000, .file = 1}};
  EXPECT_EQ(OffsetOfMovedText(0x4000, 0x7000, replaced), 0x1000U);
  EXPECT_EQ(OffsetOfMovedText(0x5000, 0x6800, replaced), 0x2000U);
  EXPECT_EQ(OffsetOfMovedText(0x3000, 0x7000, replaced), std::nullopt);
  EXPECT_EQ(OffsetOfMovedText(0x4000, 0x8000, replaced), std::nullopt);
}

TEST(MovedText, ReplacesOneFileWithoutAGap) {
  TextMapping replaced[] = {{.start = 0x4000, .end = 0x5000, .page_offset = 0, .file = 1},
                            {.start = 0x5000, .end = 0x6000, .page_offset = 0x1000, .file = 2}};
  EXPECT_EQ(OffsetOfMovedText(0x4000, 0x6000, replaced), std::nullopt);
  replaced[1].file = 1;
  EXPECT_EQ(OffsetOfMovedText(0x4000, 0x6000, replaced), 0U);
  replaced[1].page_offset = 0x2000;
  EXPECT_EQ(OffsetOfMovedText(0x4000, 0x6000, replaced), std::nullopt);
  replaced[0].file.reset();
  EXPECT_EQ(OffsetOfMovedText(0x4000, 0x4800, std::span(replaced).first(1)), std::nullopt);
  EXPECT_EQ(OffsetOfMovedText(0x4000, 0x4800, {}), std::nullopt);
}

TEST(MovedText, MayBeRoundedToHugePages) {
  const TextMapping replaced[] = {
      {.start = 3 * kHuge + 0x1000, .end = 5 * kHuge - 0x3000, .page_offset = 0x1000, .file = 1}};
  EXPECT_EQ(OffsetOfMovedText(3 * kHuge, 5 * kHuge, replaced), 0U);
  EXPECT_EQ(OffsetOfMovedText(4 * kHuge, 5 * kHuge, replaced), kHuge);
  EXPECT_EQ(OffsetOfMovedText(3 * kHuge, 6 * kHuge, replaced), std::nullopt);
  EXPECT_EQ(OffsetOfMovedText(2 * kHuge, 5 * kHuge, replaced), std::nullopt);
  EXPECT_EQ(OffsetOfMovedText(3 * kHuge + 0x1000, 5 * kHuge, replaced), std::nullopt);
}

}  // namespace
}  // namespace perftape::perfdata
