// SPDX-License-Identifier: Apache-2.0
// One step of a stack walk: from the registers in a function to those in its caller. It does what
// bpf/unwind.bpf.h does in the kernel; tests/bpf/unwind_test.cc compares them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "formats/base/bytes.h"
#include "formats/unwind/frame_registers.h"
#include "formats/unwind/rule.h"

namespace perftape::unwind {

struct Registers {
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::optional<std::uint64_t> fp = 0;     // rbp, x29; unknown if its word could not be read
  std::optional<std::uint64_t> bx = {};    // rbx, where it is known
  std::optional<std::uint64_t> link = {};  // x30, rdi; unknown behind the first frame
  std::optional<std::uint64_t> cx = {};    // rcx; unknown behind the first frame
  bool interrupted = true;  // pc is the next instruction; otherwise it is a return address
  // The registers of interrupted code, by their numbers in call frame information, and a bit for
  // each that the frame still has: no callee has saved it.
  std::array<std::uint64_t, 32> general = {};
  std::uint32_t kept = 0;
};

// The offsets of rax, rdx, rcx and so on, by their numbers, in words, in the registers that the
// kernel saves for a signal handler (struct sigcontext): four bits each, the first in the lowest.
inline constexpr std::uint64_t kSignalRegisters = 0x76543210fa89becd;
// Those are in front of the interrupted stack pointer.
inline constexpr std::uint64_t kSignalStackPointer = 15 * kWordSize;

enum class StepResult : std::uint8_t {
  kCaller,      // the registers are those of the caller
  kEnd,         // there is no caller
  kNoRule,      // the rule is kNone or kUnsupported
  kUnreadable,  // a word that is needed is not in memory
  kNoProgress,  // the caller's frame would not be above this one
};

// Returns the word at an address of the process, or nothing.
template <class Read>
concept ReadsWords = requires(Read read, std::uint64_t address) {
  { read(address) } -> std::same_as<std::optional<std::uint64_t>>;
};

// Of a reader of a copied stack: whether a word is below all that was copied.
template <class Read>
concept ReadsACopy = requires(const Read read, std::uint64_t address) {
  { read.IsBelow(address) } -> std::same_as<bool>;
};

// Applies `rule` to `registers`. They are unchanged unless the result is kCaller. A return address
// of 0 is kEnd, but kNoRule if the rule was derived. kNoRule also if the rule needs another
// register, and it is unknown; an unknown frame pointer is kUnreadable. An rbx of 0 leads to no
// frame: it counts as unknown. A signal frame of x86-64 has all registers of the code that it
// interrupted.
template <ReadsWords Read>
StepResult Step(Machine machine, const Rule& rule, const Read& read, Registers& registers);

// What follows is not part of the interface.

// The bits of a user address on aarch64. The bits above hold a signature (PAC), which the kernel
// also removes (arch/arm64/include/asm/pointer_auth.h, ptrauth_user_pac_mask).
inline constexpr std::uint64_t kAArch64AddressBits = (std::uint64_t{1} << 48) - 1;

// Adds scale times a register, by its number in call frame information, to `sum`. The result is
// kCaller if it is known.
inline StepResult AddRegister(Machine machine, const Registers& registers, std::uint8_t number,
                              std::uint64_t scale, std::uint64_t& sum) {
  const FrameRegisters numbers = FrameRegistersOf(machine);
  std::uint64_t value = 0;
  if (number == numbers.stack_pointer) {
    value = registers.sp;
  } else if (number == numbers.frame_pointer) {
    if (!registers.fp) return StepResult::kUnreadable;
    value = *registers.fp;
  } else if (number == numbers.base) {
    value = registers.bx.value_or(0);
    if (value == 0) return StepResult::kNoRule;
  } else {
    if (number >= numbers.general || (registers.kept >> number & 1) == 0) {
      return StepResult::kNoRule;
    }
    value = registers.general[number];
  }
  sum += scale * value;
  return StepResult::kCaller;
}

// The base and the index of a rule.
inline StepResult AddRegisters(Machine machine, const Rule& rule, const Registers& registers,
                               std::uint64_t& sum) {
  const StepResult base = AddRegister(machine, registers, rule.base, 1, sum);
  if (base != StepResult::kCaller || rule.scale == 0) return base;
  return AddRegister(machine, registers, rule.index, rule.scale, sum);
}

// Sets the general registers to those that the kernel saved for a signal handler.
template <ReadsWords Read>
void SetSignalRegisters(const Read& read, std::uint64_t address, Registers& registers) {
  registers.kept = 0;
  for (unsigned number = 0; number < 16; ++number) {
    const auto word = read(address + (kSignalRegisters >> 4 * number & 15) * kWordSize);
    if (!word) continue;
    registers.general[number] = *word;
    registers.kept |= std::uint32_t{1} << number;
  }
}

// Computes the canonical frame address. The result is kCaller if `cfa` is set.
template <ReadsWords Read>
StepResult FindFrameAddress(Machine machine, const Rule& rule, const Read& read,
                            const Registers& registers, std::uint64_t& cfa) {
  // Offsets are signed, addresses wrap around.
  const auto offset = static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
  const auto load = [&](std::uint64_t address) {
    const std::optional<std::uint64_t> word = read(address);
    if (!word) return StepResult::kUnreadable;
    cfa = *word + rule.addend;
    return StepResult::kCaller;
  };
  switch (rule.cfa) {
    case CfaRule::kNone:
    case CfaRule::kUnsupported:
      return StepResult::kNoRule;
    case CfaRule::kEndOfStack:
      return StepResult::kEnd;
    case CfaRule::kStackPointer:
      cfa = registers.sp + offset;
      return StepResult::kCaller;
    case CfaRule::kFramePointer:
      if (!registers.fp) return StepResult::kUnreadable;
      cfa = *registers.fp + offset;
      return StepResult::kCaller;
    case CfaRule::kAtStackPointer:
      return load(registers.sp + offset);
    case CfaRule::kAtFramePointer:
      if (!registers.fp) return StepResult::kUnreadable;
      return load(*registers.fp + offset);
    case CfaRule::kPlt: {
      constexpr std::uint64_t kEntrySize = 16;
      const bool is_pushed = registers.pc % kEntrySize >= rule.addend;
      cfa = registers.sp + offset + (is_pushed ? kWordSize : 0);
      return StepResult::kCaller;
    }
    case CfaRule::kRegister:
      cfa = offset;
      return AddRegisters(machine, rule, registers, cfa);
    case CfaRule::kAtRegister: {
      std::uint64_t address = offset;
      const StepResult known = AddRegisters(machine, rule, registers, address);
      return known == StepResult::kCaller ? load(address) : known;
    }
  }
  return StepResult::kNoRule;
}

template <ReadsWords Read>
StepResult Step(Machine machine, const Rule& rule, const Read& read, Registers& registers) {
  std::uint64_t cfa = 0;
  if (const StepResult found = FindFrameAddress(machine, rule, read, registers, cfa);
      found != StepResult::kCaller) {
    return found;
  }
  const bool is_signal = (rule.flags & Rule::kSignalFrame) != 0;
  const bool is_elsewhere = (rule.flags & (Rule::kSignalFrame | Rule::kOtherStack)) != 0;
  const std::uint64_t base = (rule.flags & Rule::kFromStackPointer) != 0 ? registers.sp : cfa;
  const auto at = [](std::uint64_t from, std::int32_t offset) {
    return from + static_cast<std::uint64_t>(std::int64_t{offset});
  };

  const bool returns_by_register = rule.ra_offset == Rule::kInRegister;
  const auto& return_register =
      (rule.flags & Rule::kReturnInCx) != 0 ? registers.cx : registers.link;
  const std::optional<std::uint64_t> pc =
      returns_by_register ? return_register : read(at(base, rule.ra_offset));
  if (!pc) return returns_by_register ? StepResult::kNoRule : StepResult::kUnreadable;
  std::optional<std::uint64_t> fp = registers.fp;
  if (rule.fp_offset != Rule::kInRegister) {
    const bool is_from_fp = (rule.flags & Rule::kFpFromFp) != 0;
    if (is_from_fp && !fp) return StepResult::kUnreadable;
    const std::uint64_t saved = at(is_from_fp ? *fp : base, rule.fp_offset);
    fp = read(saved);
    // GCC does not describe that an epilogue has popped the register. Then its word is below the
    // stack pointer, and a copy of the stack does not contain it.
    if constexpr (ReadsACopy<Read>) {
      if (read.IsBelow(saved)) fp = registers.fp;
    }
  }

  std::optional<std::uint64_t> bx = registers.bx;
  if (rule.bx_words == Rule::kBxUnknown) {
    bx.reset();
  } else if (rule.bx_words != Rule::kBxUnchanged) {
    bx = read(at(cfa, rule.bx_words * static_cast<std::int32_t>(kWordSize)));
  }

  const std::uint64_t caller = machine == Machine::kAArch64 ? *pc & kAArch64AddressBits : *pc;
  // With a derived rule, a zero is only a word that is not a return address.
  if (caller == 0) {
    return (rule.flags & Rule::kDerived) != 0 ? StepResult::kNoRule : StepResult::kEnd;
  }
  // A handler may run on a stack of its own (sigaltstack), which can be anywhere. A function that
  // returns by a register may have nothing on the stack.
  const bool is_above = returns_by_register ? cfa >= registers.sp : cfa > registers.sp;
  if (!is_above && !is_elsewhere) return StepResult::kNoProgress;
  if (is_signal && machine == Machine::kX86_64 && rule.cfa == CfaRule::kAtStackPointer) {
    SetSignalRegisters(read, at(registers.sp, rule.cfa_offset) - kSignalStackPointer, registers);
  } else {
    registers.kept &= ~rule.changed;
  }
  // Field by field: a whole object would be copied before its parts have been stored, and the CPU
  // would wait for them.
  registers.pc = caller;
  registers.sp = cfa;
  registers.fp = fp;
  registers.bx = bx;
  registers.link.reset();
  registers.cx.reset();
  registers.interrupted = is_signal;
  return StepResult::kCaller;
}

}  // namespace perftape::unwind
