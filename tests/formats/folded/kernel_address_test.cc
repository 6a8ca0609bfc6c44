// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/kernel_address.h"

#include <gtest/gtest.h>

namespace perftape::folded {
namespace {

constexpr RuntimeAddress kAddress{0xffffffff81000100};

TEST(KernelAddress, IsTheWholeFrame) {
  EXPECT_EQ(KernelAddressOf("0xffffffff81000100"), kAddress);
  EXPECT_EQ(KernelAddressOf("0xFFFFFFFF81000100"), kAddress);
  EXPECT_EQ(KernelAddressOf("0xffffffff81000100_[k]"), kAddress);
  EXPECT_EQ(KernelAddressOf("[kernel] 0xffffffff81000100"), kAddress);
}

TEST(KernelAddress, IsInTheUpperHalfUnlessMarked) {
  EXPECT_EQ(KernelAddressOf("0x7f0012345678"), std::nullopt);
  EXPECT_EQ(KernelAddressOf("0xc0101234"), std::nullopt);
  EXPECT_EQ(KernelAddressOf("[kernel] 0xc0101234"), RuntimeAddress{0xc0101234});
  EXPECT_EQ(KernelAddressOf("0xc0101234_[k]"), RuntimeAddress{0xc0101234});
}

TEST(KernelAddress, IsNoName) {
  for (const char* frame :
       {"", "main", "0x", "[kernel]", "[kernel] ", "[kernel] 0x", "ffffffff81000100",
        "0xffffffff81000100 ", " 0xffffffff81000100", "0xffffffff81000100+0x5",
        "0xffffffff8100010g", "0x1ffffffff81000100", "0x-1", "[libc.so.6] 0xffffffff81000100"}) {
    EXPECT_EQ(KernelAddressOf(frame), std::nullopt) << frame;
  }
}

}  // namespace
}  // namespace perftape::folded
