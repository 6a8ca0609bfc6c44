// SPDX-License-Identifier: Apache-2.0
// The BPF programs that are loaded when a recording starts, for synthesized records and for the
// BPF_PROG_INFO feature. The kernel reports later ones itself (KSYMBOL, BPF_EVENT).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/perfdata/features.h"

namespace perftape::record {

struct BpfProgram {
  struct Function {
    std::uint64_t address = 0;  // 0 if this process may not see kernel addresses
    std::uint32_t length = 0;
    std::string name;  // as in kallsyms and in perf: "bpf_prog_<tag>_<function>"
  };

  std::uint32_t id = 0;
  std::array<std::uint8_t, 8> tag = {};
  std::string name;                     // at most 15 bytes; empty for old loaders
  std::vector<Function> functions;      // the program first, then its subprograms; empty: not JITed
  perfdata::BpfProgInfo::Program info;  // as the feature stores it
};

// Returns the programs in the order of their ids. Empty without CAP_SYS_ADMIN, which the kernel
// requires to list programs. Leaves out programs that are unloaded meanwhile.
std::vector<BpfProgram> LoadedBpfPrograms();

// Returns the value of the feature, which perf 5.1 and later read.
perfdata::BpfProgInfo BpfProgInfoOf(std::span<const BpfProgram> programs);

}  // namespace perftape::record
