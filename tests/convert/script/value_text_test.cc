// SPDX-License-Identifier: Apache-2.0
#include "convert/script/value_text.h"

#include <gtest/gtest.h>

#include <array>

#include "convert/script/memory_text.h"

namespace perftape::listing {
namespace {

std::string DataSourceOf(std::uint64_t word, Style style = Style::kPerf61) {
  std::string text;
  AppendDataSource(text, word, style);
  return text;
}

TEST(DataSource, IsPrintedAsPerfDoes) {
  EXPECT_EQ(DataSourceOf(0x11868100242),
            "|OP LOAD|LVL LFB/MAB or LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
  EXPECT_EQ(DataSourceOf(0x10268100142),
            "|OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
  EXPECT_EQ(DataSourceOf(0x10268100142, Style::kPerf73),
            "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A");
}

TEST(Registers, HaveTheNamesOfTheirArchitecture) {
  const std::array<std::uint64_t, 2> words = {0x1, 0x7f};
  std::string text;
  AppendRegisters(text, 2, WordArray(words), 0x3, "x86_64");
  EXPECT_EQ(text, " ABI:2    AX:0x1    BX:0x7f ");
  text.clear();
  AppendRegisters(text, 2, WordArray(words), std::uint64_t{0x3} << 31, "aarch64");
  EXPECT_EQ(text, " ABI:2    sp:0x1    pc:0x7f ");
  text.clear();
  AppendRegisters(text, 0, WordArray(words), 0x3, "x86_64");
  EXPECT_EQ(text, "");
}

TEST(PageSize, IsInTheLargestUnit) {
  std::string text;
  for (const std::uint64_t size : {0UL, 4096UL, 2UL << 20, 1UL << 30}) {
    AppendPageSize(text, size);
    text += ' ';
  }
  EXPECT_EQ(text, "N/A 4K 2M 1G ");
}

}  // namespace
}  // namespace perftape::listing
