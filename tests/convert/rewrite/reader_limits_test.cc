// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/reader_limits.h"

#include <gtest/gtest.h>

namespace perftape::rewrite {
namespace {

using perfdata::RecordType;

TEST(ReaderLimits, AreFoundByVersion) {
  ASSERT_NE(FindReaderLimits("6.1"), nullptr);
  EXPECT_EQ(FindReaderLimits("6.1")->attr_size, 128U);
  EXPECT_EQ(FindReaderLimits("6"), nullptr);
}

TEST(ReaderLimits, ContainTheLastKernelAndToolTypes) {
  const ReaderLimits& perf = *FindReaderLimits("6.1");
  EXPECT_TRUE(perf.Knows(RecordType::kAuxOutputHwId));
  EXPECT_FALSE(perf.Knows(RecordType::kCallchainDeferred));
  EXPECT_TRUE(perf.Knows(RecordType::kHeaderAttr));
  EXPECT_TRUE(perf.Knows(RecordType::kFinishedInit));
  EXPECT_FALSE(perf.Knows(RecordType::kCompressed2));
  EXPECT_FALSE(perf.Knows(RecordType{0}));
}

TEST(ReaderLimits, ReduceOnlyWhatIsTooNew) {
  const ReaderLimits& perf = *FindReaderLimits("6.1");
  const perfdata::EventAttr old = {.size = 112, .branch_sample_type = perfdata::kBranchHwIndex};
  EXPECT_EQ(perf.Reduced(old).size, 112U);
  EXPECT_EQ(perf.Reduced(old).branch_sample_type, perfdata::kBranchHwIndex);
  const perfdata::EventAttr newer = {.size = 144, .branch_sample_type = perfdata::kBranchCounters};
  EXPECT_EQ(perf.Reduced(newer).size, 128U);
  EXPECT_EQ(perf.Reduced(newer).branch_sample_type, 0U);
}

TEST(ReaderLimits, ClearTheFlagsAndRegistersOfNewerKernels) {
  for (const ReaderLimits& perf : AllReaderLimits()) {
    const perfdata::EventAttr newest = {.size = 176,
                                        .flags = perfdata::kTask | perfdata::kDeferCallchain,
                                        .sample_regs_user = 0xff'ff0f'ffff,
                                        .simd_regs_enabled = 1};
    EXPECT_EQ(perf.Reduced(newest).flags, perfdata::kTask) << perf.version;
    EXPECT_EQ(perf.Reduced(newest).sample_regs_user, 0x0f'ffffU) << perf.version;
    EXPECT_FALSE(FormatOf(perf.Reduced(newest)).simd_regs) << perf.version;
    // Without vector registers, the upper bits have the meaning that they always had.
    const perfdata::EventAttr older = {.sample_regs_user = 0xff'ff0f'ffff};
    EXPECT_EQ(perf.Reduced(older).sample_regs_user, older.sample_regs_user);
  }
}

}  // namespace
}  // namespace perftape::rewrite
