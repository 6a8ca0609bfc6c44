// SPDX-License-Identifier: Apache-2.0
// The USDT probes of a program or library: the notes that DTRACE_PROBE of <sys/sdt.h> writes
// (SystemTap, "UserSpaceProbeImplementation"). Each note is one location of a probe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/elf/elf_file.h"

namespace perftape::elf {

struct UsdtProbe {
  std::string_view provider, name;  // views of the file
  ImageAddress location;            // of the instruction
  ImageAddress semaphore;           // of a 16-bit counter of listeners; 0: there is none
};

// Returns the probes in the section .note.stapsdt, in their order; as far as the notes are valid.
// Addresses are corrected if prelink moved the file. The views live as long as `file`.
std::vector<UsdtProbe> ReadUsdtProbes(const ElfFile& file);

}  // namespace perftape::elf
