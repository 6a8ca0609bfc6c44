// SPDX-License-Identifier: Apache-2.0
// The user registers of a sample, as far as a stack walk needs them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/step.h"

namespace perftape::offline_unwind {

// The processor of a recording: by the feature ARCH, which is the machine name of uname(2), or, if
// that is empty, by the recorded registers. Nothing for a processor that cannot be unwound.
std::optional<unwind::Machine> MachineOf(std::string_view arch, std::uint64_t regs_user_mask);

// Whether the registers are those of a 64-bit process, of a 32-bit process, or absent: kernel
// threads have none (enum perf_sample_regs_abi).
enum class RegistersAbi : std::uint8_t { kNone, k32Bit, k64Bit };
RegistersAbi AbiOf(const perfdata::Sample& sample);

// The registers of a 64-bit process. Nothing if the instruction or stack pointer was not recorded.
std::optional<unwind::Registers> RegistersOf(const perfdata::Sample& sample, std::uint64_t mask,
                                             unwind::Machine machine);

}  // namespace perftape::offline_unwind
