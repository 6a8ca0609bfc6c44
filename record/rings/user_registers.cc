// SPDX-License-Identifier: Apache-2.0
#include "record/rings/user_registers.h"

#include <linux/perf_event.h>

#include <bit>
#include <cstddef>
#include <iterator>

namespace perftape::record {
namespace {

#if defined(__aarch64__)
// struct user_pt_regs has the order of the mask. A 32-bit task has its stack pointer, link register
// and pc in other registers, and the kernel reports them in both (arch/arm64/kernel/perf_regs.c).
void Order(const wire_user_state& state, std::vector<std::uint64_t>& registers) {
  constexpr std::size_t kLr = 30, kSp = 31, kPc = 32, kCompatSp = 13, kCompatLr = 14,
                        kCompatPc = 15;
  registers.assign(state.regs, state.regs + std::popcount(kUserRegisterMask));
  if (state.abi != PERF_SAMPLE_REGS_ABI_32) return;
  registers[kLr] = registers[kCompatLr];
  registers[kSp] = registers[kCompatSp];
  registers[kCompatPc] = registers[kPc];
}

unwind::Registers Walked(const wire_user_state& state) {
  constexpr std::size_t kFp = 29, kLink = 30, kStackPointer = 31, kProgramCounter = 32;
  return {.pc = state.regs[kProgramCounter],
          .sp = state.regs[kStackPointer],
          .fp = state.regs[kFp],
          .bx = {},
          .link = state.regs[kLink],
          .cx = {},
          .interrupted = true,
          .general = {}};
}

// x0 to x30, by their numbers in call frame information.
constexpr std::size_t kGeneral = 31;
std::size_t IndexOf(std::size_t number) {
  return number;
}
#else
// The order of struct pt_regs (arch/x86/include/uapi/asm/ptrace.h).
enum InPtRegs : std::uint8_t {
  kR15,
  kR14,
  kR13,
  kR12,
  kRbp,
  kRbx,
  kR11,
  kR10,
  kR9,
  kR8,
  kRax,
  kRcx,
  kRdx,
  kRsi,
  kRdi,
  kOrigRax,
  kRip,
  kCs,
  kEflags,
  kRsp,
  kSs,
  kPtRegs
};
static_assert(kPtRegs == WIRE_USER_REGS);

// The order of enum perf_event_x86_regs (arch/x86/include/uapi/asm/perf_regs.h).
constexpr InPtRegs kFileOrder[] = {kRax, kRbx, kRcx, kRdx, kRsi, kRdi, kRbp, kRsp, kRip, kEflags,
                                   kCs,  kSs,  kR8,  kR9,  kR10, kR11, kR12, kR13, kR14, kR15};
static_assert(std::size(kFileOrder) == static_cast<std::size_t>(std::popcount(kUserRegisterMask)));

// The upper bits of these words have other values on CPUs with FRED.
constexpr std::uint64_t kSelectorBits = 0xffff;

void Order(const wire_user_state& state, std::vector<std::uint64_t>& registers) {
  registers.clear();
  for (const InPtRegs index : kFileOrder) {
    const bool is_selector = index == kCs || index == kSs;
    registers.push_back(is_selector ? state.regs[index] & kSelectorBits : state.regs[index]);
  }
}

unwind::Registers Walked(const wire_user_state& state) {
  return {.pc = state.regs[kRip],
          .sp = state.regs[kRsp],
          .fp = state.regs[kRbp],
          .bx = state.regs[kRbx],
          .link = state.regs[kRdi],
          .cx = state.regs[kRcx],
          .interrupted = true,
          .general = {}};
}

// By their numbers in call frame information.
constexpr InPtRegs kNumbered[] = {kRax, kRdx, kRcx, kRbx, kRsi, kRdi, kRbp, kRsp,
                                  kR8,  kR9,  kR10, kR11, kR12, kR13, kR14, kR15};
constexpr std::size_t kGeneral = std::size(kNumbered);
std::size_t IndexOf(std::size_t number) {
  return kNumbered[number];
}
#endif

}  // namespace

void OrderUserRegisters(const wire_user_state& state, std::vector<std::uint64_t>& registers) {
  registers.clear();
  if (state.abi != PERF_SAMPLE_REGS_ABI_NONE) Order(state, registers);
}

unwind::Registers RegistersOf(const wire_user_state& state) {
  unwind::Registers registers = Walked(state);
  for (std::size_t number = 0; number < kGeneral; ++number) {
    registers.general[number] = state.regs[IndexOf(number)];
  }
  registers.kept = ~std::uint32_t{0} >> (registers.general.size() - kGeneral);
  return registers;
}

}  // namespace perftape::record
