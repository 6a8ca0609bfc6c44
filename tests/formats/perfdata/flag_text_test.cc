// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/flag_text.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

namespace perftape::perfdata {
namespace {

TEST(DataSourceText, NamesTheFieldsOfTheKernel) {
  perf_mem_data_src source = {};
  source.mem_op = PERF_MEM_OP_LOAD;
  source.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3;
  source.mem_snoop = PERF_MEM_SNOOP_HITM;
  source.mem_lock = PERF_MEM_LOCK_LOCKED;
  source.mem_dtlb = PERF_MEM_TLB_HIT | PERF_MEM_TLB_L2;
  source.mem_lvl_num = PERF_MEM_LVLNUM_L3;
  source.mem_remote = 1;
  EXPECT_EQ(DataSourceText(source.val),
            "op=load|lvl=hit+L3|snoop=hitm|lock=locked|dtlb=hit+L2|lvl_num=L3|remote=yes");
}

TEST(DataSourceText, NamesRegionsAndL0) {
  EXPECT_EQ(DataSourceText(0x2 | std::uint64_t{7} << 33 | std::uint64_t{9} << 46),
            "op=load|lvl_num=L0|region=mem1");
  EXPECT_EQ(DataSourceText(std::uint64_t{20} << 46), "region=20");
}

TEST(DataSourceText, IsEmptyWithoutFields) {
  EXPECT_EQ(DataSourceText(0), "");
  EXPECT_EQ(DataSourceText(std::uint64_t{1} << 63), "");
}

TEST(AttrFlagsText, ShowsTheTwoBitsOfPreciseIpAsANumber) {
  EXPECT_EQ(AttrFlagsText(kInherit | std::uint64_t{2} << 15), "inherit|precise_ip=2");
  EXPECT_EQ(AttrFlagsText(0), "none");
}

TEST(AttrFlagValues, HasTheFieldsInTheOrderOfTheStruct) {
  const auto values = AttrFlagValues(kSampleIdAll | std::uint64_t{3} << 15 | kDisabled);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0].name, "disabled");
  EXPECT_EQ(values[1].name, "precise_ip");
  EXPECT_EQ(values[1].value, 3U);
  EXPECT_EQ(values[2].name, "sample_id_all");
}

TEST(BranchFilterText, HasTheNamesOfTheKernel) {
  EXPECT_EQ(BranchFilterText(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK),
            "USER|CALL_STACK");
  EXPECT_EQ(BranchFilterText(PERF_SAMPLE_BRANCH_HW_INDEX), "HW_INDEX");
}

TEST(SampleTypeText, ShowsBitsWithoutANameAsANumber) {
  EXPECT_EQ(SampleTypeText(kIp | std::uint64_t{1} << 60), "IP|0x1000000000000000");
}

}  // namespace
}  // namespace perftape::perfdata
