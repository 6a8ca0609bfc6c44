// SPDX-License-Identifier: Apache-2.0
// The BPF programs that are loaded already. The kernel announces later ones itself (KSYMBOL,
// BPF_EVENT); these are for the synthesized records and for the BPF_PROG_INFO feature.
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
    std::uint64_t address = 0;  // 0 where the reader may not see kernel addresses
    std::uint32_t length = 0;
    std::string name;  // as in kallsyms and in perf: "bpf_prog_<tag>_<function>"
  };

  std::uint32_t id = 0;
  std::array<std::uint8_t, 8> tag = {};
  std::string name;                     // at most 15 bytes; empty for old loaders
  std::vector<Function> functions;      // the program first, then its subprograms; empty: not JITed
  perfdata::BpfProgInfo::Program info;  // the same and more, as the feature stores it
};

// In the order of their ids. Empty without CAP_SYS_ADMIN, which the kernel asks for to list
// programs; one that goes away meanwhile is left out.
std::vector<BpfProgram> LoadedBpfPrograms();

// The feature's value; perf 5.1 and later read it.
perfdata::BpfProgInfo BpfProgInfoOf(std::span<const BpfProgram> programs);

}  // namespace perftape::record
