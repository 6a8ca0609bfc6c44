// SPDX-License-Identifier: Apache-2.0
// Where the text of the running kernel is, from the kernel itself.
#pragma once

#include <cstdint>
#include <optional>

#include "record/machine/kernel_maps.h"

namespace perftape::record {

// Looks the symbols up in the kernel, which takes a millisecond. Returns nothing if a BPF program
// cannot do it: before Linux 5.16, and where kallsyms hides addresses from this process.
std::optional<KernelText> LookUpKernelText();

// The section of the scheduler's functions, and the function schedule(); 0 if there is none.
struct SchedulerText {
  std::uint64_t start = 0, end = 0, schedule = 0;
};
// As LookUpKernelText.
std::optional<SchedulerText> LookUpSchedulerText();

}  // namespace perftape::record
