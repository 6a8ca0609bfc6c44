// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/attr_text.h"

#include <gtest/gtest.h>

namespace perftape::perf_tool {
namespace {

using perfdata::EventAttr;

TEST(PerfAttrText, LeavesOutFieldsThatAreZero) {
  EventAttr attr;
  attr.type = 1;
  attr.size = 128;
  attr.sample_period = 4000;
  attr.sample_type = perfdata::kIp | perfdata::kTid;
  attr.flags = perfdata::kDisabled | perfdata::kFreq;
  EXPECT_EQ(PerfAttrText(attr),
            "type: 1, size: 128, { sample_period, sample_freq }: 4000, sample_type: IP|TID, "
            "disabled: 1, freq: 1");
}

TEST(PerfAttrText, HasTheNumberOfPreciseIp) {
  EventAttr attr;
  attr.flags = std::uint64_t{2} << perfdata::kPreciseIpShift | perfdata::kSampleIdAll;
  EXPECT_EQ(PerfAttrText(attr), "size: 112, precise_ip: 2, sample_id_all: 1");
}

TEST(PerfAttrText, HasTheBitsOfSampleTypeInTheOrderOfPerf) {
  EventAttr attr;
  attr.sample_type = perfdata::kPeriod | perfdata::kDataSrc | perfdata::kIdentifier;
  EXPECT_EQ(PerfAttrText(attr), "size: 112, sample_type: PERIOD|IDENTIFIER|DATA_SRC");
}

TEST(PerfAttrText, ShowsAddressesAndMasksInHex) {
  EventAttr attr;
  attr.config = 0x1c2;
  attr.config1 = 0x7f00;
  attr.branch_sample_type = 1 << 0 | 1 << 3;
  attr.sample_regs_user = 0xff0fff;
  EXPECT_EQ(PerfAttrText(attr),
            "size: 112, config: 0x1c2, { bp_addr, config1 }: 0x7f00, "
            "branch_sample_type: USER|ANY, sample_regs_user: 0xff0fff");
}

}  // namespace
}  // namespace perftape::perf_tool
