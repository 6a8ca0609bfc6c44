// SPDX-License-Identifier: Apache-2.0
// The instructions of x86-64 (Intel SDM, volume 2), as far as a stack walk needs them: their sizes,
// where they go on, and what they do to the stack pointer and the frame pointer.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/base/bytes.h"

namespace perftape::unwind {

// The numbers of registers in instructions.
inline constexpr std::uint8_t kX86Sp = 4, kX86Fp = 5;

struct X86Instruction {
  enum class Type : std::uint8_t {
    kOther,         // changes neither the stack pointer nor the frame pointer
    kPush,          // `reg` is the register, or kNoRegister
    kPop,           // the same
    kAddToSp,       // sp += value: add, sub and lea
    kSpFromFp,      // sp = fp + value
    kFpFromSp,      // fp = sp + value
    kAlignSp,       // and $mask,%rsp, or sp is changed by a register: alloca
    kSaveFp,        // mov %rbp,value(%rsp)
    kRestoreFp,     // mov value(%rsp),%rbp
    kStoreAtSp,     // a plain store of another register to value(%rsp)
    kChangesFp,     // any other change of the frame pointer
    kLeave,         // sp = fp, pop fp
    kCall,          // `target` is 0 if it is not known
    kJump,          // to `target`; does not go on behind it
    kJumpIf,        // to `target`, or goes on
    kIndirectJump,  // to an address that is not known
    kReturn,
    kReturnAndPop,  // ret $n: of another calling convention
    kTrap,          // int3, ud2: does not go on
    kHalt,          // hlt: a fault, so it does not go on, but a compiler may not know that
    kPadding,       // nop
  };
  static constexpr std::uint8_t kNoRegister = 0xff;

  Type type = Type::kOther;
  std::uint8_t size = 0;  // in bytes, 1 to 15
  std::uint8_t reg = kNoRegister;
  std::int64_t value = 0;
  std::int64_t target = 0;  // distance from the first byte
};

// Decodes the instruction at the start of `code`. Nothing for an instruction that ends after the
// code, that is not known, or that changes the stack pointer in a way that no type describes.
std::optional<X86Instruction> DecodeX86(Bytes code);

}  // namespace perftape::unwind
