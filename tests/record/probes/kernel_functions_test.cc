// SPDX-License-Identifier: Apache-2.0
#include "record/probes/kernel_functions.h"

#include <gmock/gmock.h>

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KernelFunctions, AreTheCodeInKallsyms) {
  EXPECT_THAT(DecodeKernelFunctions("0000000000000000 T vfs_read\n"
                                    "0000000000000000 t __pfx_vfs_read\n"
                                    "0000000000000000 D jiffies\n"
                                    "0000000000000000 t nft_do_chain\t[nf_tables]\n"
                                    "0000000000000000 t bpf_prog_1_x\t[bpf]\n"
                                    "0000000000000000 W arch_probe\n"
                                    "0000000000000000 t vfs_read\n"),
              ElementsAre("arch_probe", "nft_do_chain", "vfs_read"));
}

TEST(KernelFunctions, SkipDamagedLines) {
  EXPECT_THAT(DecodeKernelFunctions("\n0\n0 T\n0 T \nnothing\n"), testing::SizeIs(testing::Le(1)));
  EXPECT_THAT(DecodeKernelFunctions(""), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
