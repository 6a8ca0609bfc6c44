// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/sampled_registers.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace perftape::offline_unwind {
namespace {

using unwind::Machine;

// The masks of perf record --call-graph dwarf.
constexpr std::uint64_t kX86Mask = 0xff0fff;
constexpr std::uint64_t kArm64Mask = 0x1ffffffff;

TEST(MachineOf, PrefersTheRecordedMachine) {
  EXPECT_EQ(MachineOf("x86_64", kArm64Mask), Machine::kX86_64);
  EXPECT_EQ(MachineOf("aarch64", kX86Mask), Machine::kAArch64);
  EXPECT_EQ(MachineOf("", kX86Mask), Machine::kX86_64);
  EXPECT_EQ(MachineOf("", kArm64Mask), Machine::kAArch64);
  EXPECT_EQ(MachineOf("s390x", kArm64Mask), std::nullopt);
  EXPECT_EQ(MachineOf("", 0), std::nullopt);
}

TEST(RegistersOf, FindsTheRegistersByTheirBits) {
  std::vector<std::uint64_t> words(33);
  std::iota(words.begin(), words.end(), 1000);
  const perfdata::Sample sample{.regs_user = WordArray(words)};
  const auto x86 = RegistersOf(sample, kX86Mask, Machine::kX86_64);
  ASSERT_TRUE(x86);
  EXPECT_EQ(x86->fp, 1006);
  EXPECT_EQ(x86->sp, 1007);
  EXPECT_EQ(x86->pc, 1008);
  EXPECT_EQ(x86->link, 1005);
  EXPECT_EQ(x86->bx, 1001);
  const auto arm = RegistersOf(sample, kArm64Mask, Machine::kAArch64);
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->fp, 1029);
  EXPECT_EQ(arm->link, 1030);
  EXPECT_EQ(arm->bx, std::nullopt);
  EXPECT_EQ(arm->sp, 1031);
  EXPECT_EQ(arm->pc, 1032);
  // Only BP, SP and IP.
  const auto few = RegistersOf(sample, 0x1c0, Machine::kX86_64);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->fp, 1000);
  EXPECT_EQ(few->pc, 1002);
  EXPECT_EQ(few->link, std::nullopt);
}

TEST(RegistersOf, NeedsInstructionAndStackPointer) {
  const std::uint64_t words[] = {1, 2};
  const perfdata::Sample sample{.regs_user = WordArray(words)};
  EXPECT_FALSE(RegistersOf(sample, 0x140, Machine::kX86_64));  // no SP
  EXPECT_FALSE(RegistersOf(sample, 0x1c0, Machine::kX86_64));  // fewer words than bits
  EXPECT_TRUE(RegistersOf(sample, 0x180, Machine::kX86_64));
}

TEST(AbiOf, TellsKernelThreadsAnd32BitProcesses) {
  EXPECT_EQ(AbiOf({.regs_user_abi = 0}), RegistersAbi::kNone);
  EXPECT_EQ(AbiOf({.regs_user_abi = 1}), RegistersAbi::k32Bit);
  EXPECT_EQ(AbiOf({.regs_user_abi = 2}), RegistersAbi::k64Bit);
  // With vector registers.
  EXPECT_EQ(AbiOf({.regs_user_abi = 5}), RegistersAbi::k32Bit);
  EXPECT_EQ(AbiOf({.regs_user_abi = 6}), RegistersAbi::k64Bit);
}

}  // namespace
}  // namespace perftape::offline_unwind
