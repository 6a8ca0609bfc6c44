// SPDX-License-Identifier: Apache-2.0
// The numbers of registers in call frame information: System V ABI for x86-64 ("DWARF Register
// Number Mapping"), DWARF for the Arm 64-bit Architecture (4.1).
#pragma once

#include <cstdint>

#include "formats/unwind/rule.h"

namespace perftape::unwind {

inline constexpr std::uint64_t kNoRegister = ~std::uint64_t{0};

struct FrameRegisters {
  std::uint64_t stack_pointer, frame_pointer, program_counter;
  // In which a function can keep its return address. On x86-64 glibc's vfork does so, because the
  // child overwrites the stack (sysdeps/unix/sysv/linux/x86_64/vfork.S).
  std::uint64_t link;
  std::uint64_t base;   // rbx; kNoRegister on aarch64
  std::uint64_t count;  // rcx; kNoRegister on aarch64
  // The registers below this number are general ones.
  std::uint64_t general;
};

constexpr FrameRegisters FrameRegistersOf(Machine machine) {
  switch (machine) {
    case Machine::kX86_64:
      return {.stack_pointer = 7,
              .frame_pointer = 6,
              .program_counter = 16,
              .link = 5,
              .base = 3,
              .count = 2,
              .general = 16};
    case Machine::kAArch64:
      return {.stack_pointer = 31,
              .frame_pointer = 29,
              .program_counter = 32,
              .link = 30,
              .base = kNoRegister,
              .count = kNoRegister,
              .general = 32};
  }
  return {};
}

}  // namespace perftape::unwind
