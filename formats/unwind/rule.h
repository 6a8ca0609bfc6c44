// SPDX-License-Identifier: Apache-2.0
// A rule says how the caller's registers are found from those of a function, at one of its
// instructions. It is a row of the call frame information (DWARF 5, 6.4), reduced to the registers
// that a stack walk needs.
#pragma once

#include <cstdint>
#include <limits>

namespace perftape::unwind {

// The processors whose call frame information is read.
enum class Machine : std::uint8_t { kX86_64, kAArch64 };

// How the canonical frame address (CFA) is computed: sp is the stack pointer, fp the frame pointer
// (rbp, x29), and *(a) the word at address a.
enum class CfaRule : std::uint8_t {
  kNone,            // there is no call frame information: between functions
  kEndOfStack,      // the function has no caller: its return address is undefined
  kStackPointer,    // sp + cfa_offset
  kFramePointer,    // fp + cfa_offset
  kAtStackPointer,  // *(sp + cfa_offset) + addend: a signal's saved registers, OpenSSL's code
  kAtFramePointer,  // *(fp + cfa_offset) + addend: GCC's realigned stacks
  kPlt,             // sp + cfa_offset, and 8 more from byte `addend` of a 16-byte entry on
  kRegister,        // base + scale * index + cfa_offset: glibc's _dl_runtime_resolve, ciphers
  kAtRegister,      // *(base + scale * index + cfa_offset) + addend: OpenSSL's bn_mul_mont
  kUnsupported,     // the call frame information is none of these
};

struct Rule {
  // Of fp_offset: the function has not changed the register. Of ra_offset: the return address is in
  // the link register (x30, and rdi in vfork), or with kReturnInCx in rcx.
  static constexpr std::int32_t kInRegister = std::numeric_limits<std::int32_t>::min();
  // Flags.
  static constexpr std::uint8_t kSignalFrame = 1;  // the caller was interrupted, it did not call
  static constexpr std::uint8_t kFromStackPointer = 2;  // fp_offset, ra_offset: from sp, not CFA
  static constexpr std::uint8_t kSignedReturn = 4;  // the return address is signed (aarch64 PAC)
  // fp_offset: from fp, not CFA. GCC's realigned stacks push fp before they know the CFA.
  static constexpr std::uint8_t kFpFromFp = 8;
  // Of ra_offset: a function that leaves with __builtin_eh_return jumps to rcx.
  static constexpr std::uint8_t kReturnInCx = 16;
  // The rule may not hold: code in a short gap after a function (glibc's clone after its system
  // call), Go's runtime.mcall. The return address counts only if a call ends there.
  static constexpr std::uint8_t kInGap = 32;
  // The rule is not from call frame information, but derived from the instructions.
  static constexpr std::uint8_t kDerived = 64;
  // The caller is on another stack, which may be below this one: Go's runtime.systemstack.
  static constexpr std::uint8_t kOtherStack = 128;
  // Of bx_words: the function has not changed rbx; it cannot be restored.
  static constexpr std::int8_t kBxUnchanged = 0,
                               kBxUnknown = std::numeric_limits<std::int8_t>::min();

  std::int32_t cfa_offset = 0;
  std::int32_t fp_offset = kInRegister;  // the caller's fp is at CFA + fp_offset
  std::int32_t ra_offset = kInRegister;  // the return address is at CFA + ra_offset
  CfaRule cfa = CfaRule::kNone;
  std::uint8_t flags = 0;
  std::uint8_t addend = 0;
  std::int8_t bx_words = kBxUnchanged;  // the caller's rbx is at CFA + 8 * bx_words
  // Of kRegister and kAtRegister: registers by their numbers in call frame information. Without an
  // index, the scale is 0.
  std::uint8_t base = 0, index = 0, scale = 0;
  std::uint8_t reserved = 0;
  // The registers whose values in the caller are not those in the function, or are not known: a bit
  // for each number. Registers that have a field of their own have no bit.
  std::uint32_t changed = 0;

  bool operator==(const Rule&) const = default;
};
static_assert(sizeof(Rule) == 24, "tables are saved and mapped in this layout");

}  // namespace perftape::unwind
