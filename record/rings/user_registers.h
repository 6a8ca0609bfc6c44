// SPDX-License-Identifier: Apache-2.0
// The user registers of a sample: which ones, and their order in the file and in a message of the
// BPF programs.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <vector>

#include "bpf/wire.h"
#include "formats/unwind/step.h"

namespace perftape::record {

// The registers that `perf record --call-graph dwarf` samples (arch__user_reg_mask): all of enum
// perf_event_{x86,arm_arm64}_regs that the kernel offers on this architecture, without SVE's VG.
#if defined(__aarch64__)
inline constexpr std::uint64_t kUserRegisterMask = 0x1ffffffff;  // x0 to x29, lr, sp, pc
#else
inline constexpr std::uint64_t kUserRegisterMask = 0xff0fff;  // without ds, es, fs, gs
#endif

// Sets `registers` to those of the mask, in its order. Empty if `state` has none (a thread of the
// kernel).
void OrderUserRegisters(const wire_user_state& state, std::vector<std::uint64_t>& registers);

// The registers of 64-bit code that a stack walk needs.
unwind::Registers RegistersOf(const wire_user_state& state);

}  // namespace perftape::record
