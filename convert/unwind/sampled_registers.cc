// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/sampled_registers.h"

#include <bit>

namespace perftape::offline_unwind {
namespace {

// The bits of sample_regs_user (enum perf_event_x86_regs, enum perf_event_arm_regs in
// arch/*/include/uapi/asm/perf_regs.h).
struct RegisterBits {
  unsigned pc = 0, sp = 0, fp = 0;
  unsigned link = 0;
  std::optional<unsigned> bx = {}, cx = {};
};
constexpr RegisterBits kX86Bits = {.pc = 8, .sp = 7, .fp = 6, .link = 5, .bx = 1, .cx = 2};
constexpr RegisterBits kArm64Bits = {.pc = 32, .sp = 31, .fp = 29, .link = 30};

const RegisterBits& BitsOf(unwind::Machine machine) {
  return machine == unwind::Machine::kAArch64 ? kArm64Bits : kX86Bits;
}

constexpr bool HasBit(std::uint64_t mask, unsigned bit) {
  return (mask >> bit & 1) != 0;
}

}  // namespace

std::optional<unwind::Machine> MachineOf(std::string_view arch, std::uint64_t regs_user_mask) {
  if (arch == "x86_64" || arch == "amd64") return unwind::Machine::kX86_64;
  if (arch == "aarch64" || arch == "arm64") return unwind::Machine::kAArch64;
  if (!arch.empty()) return std::nullopt;
  if (HasBit(regs_user_mask, kArm64Bits.pc)) return unwind::Machine::kAArch64;
  if (HasBit(regs_user_mask, kX86Bits.pc)) return unwind::Machine::kX86_64;
  return std::nullopt;
}

RegistersAbi AbiOf(const perfdata::Sample& sample) {
  using namespace perfdata;
  switch (sample.regs_user_abi & (kRegsAbi32 | kRegsAbi64)) {
    case 0:
      return RegistersAbi::kNone;
    case kRegsAbi64:
      return RegistersAbi::k64Bit;
    default:
      return RegistersAbi::k32Bit;
  }
}

std::optional<unwind::Registers> RegistersOf(const perfdata::Sample& sample, std::uint64_t mask,
                                             unwind::Machine machine) {
  // The words are the registers of the set bits, in the order of the bits.
  const auto value = [&](unsigned bit) -> std::optional<std::uint64_t> {
    if (!HasBit(mask, bit)) return std::nullopt;
    const auto index =
        static_cast<std::size_t>(std::popcount(mask & ((std::uint64_t{1} << bit) - 1)));
    if (index >= sample.regs_user.size()) return std::nullopt;
    return sample.regs_user[index];
  };
  const RegisterBits& bits = BitsOf(machine);
  const std::optional<std::uint64_t> pc = value(bits.pc), sp = value(bits.sp);
  if (!pc || !sp) return std::nullopt;
  return unwind::Registers{.pc = *pc,
                           .sp = *sp,
                           .fp = value(bits.fp).value_or(0),
                           .bx = bits.bx ? value(*bits.bx) : std::nullopt,
                           .link = value(bits.link),
                           .cx = bits.cx ? value(*bits.cx) : std::nullopt};
}

}  // namespace perftape::offline_unwind
