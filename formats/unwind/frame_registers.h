// SPDX-License-Identifier: Apache-2.0
// The numbers of registers in call frame information: System V ABI for x86-64 ("DWARF Register
// Number Mapping"), DWARF for the Arm 64-bit Architecture (4.1).
#pragma once

#include <cstdint>

#include "formats/unwind/rule.h"

namespace perftape::unwind {

struct FrameRegisters {
  std::uint64_t stack_pointer, frame_pointer, program_counter;
};

constexpr FrameRegisters FrameRegistersOf(Machine machine) {
  switch (machine) {
    case Machine::kX86_64:
      return {.stack_pointer = 7, .frame_pointer = 6, .program_counter = 16};
    case Machine::kAArch64:
      return {.stack_pointer = 31, .frame_pointer = 29, .program_counter = 32};
  }
  return {};
}

}  // namespace perftape::unwind
