// SPDX-License-Identifier: Apache-2.0
// Decodes the code of linkage tables as far as needed to find the slot of the global offset table
// through which each entry jumps. The sources are the processors' ABIs ("Procedure Linkage Table")
// and the output of GNU ld, gold and lld.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/elf/headers.h"

namespace perftape::elf {

// One entry, at offset `at` of the code.
struct PltJump {
  std::size_t at = 0, size = 0;
  std::uint64_t slot = 0;                        // the address of the function's slot, or ...
  std::optional<std::uint32_t> relocation = {};  // ... the index in .rela.plt of its relocation
};

struct PltCode {
  Bytes code;
  std::uint64_t address = 0;     // of the first byte
  std::uint64_t entry_size = 0;  // sh_entsize of the section; unreliable
  std::uint64_t got = 0;         // _GLOBAL_OFFSET_TABLE_, the base of i386's slots
};

// Supports x86-64, i386, arm64, arm, RISC-V and s390x; returns nothing for other machines. Omits
// code that is not an entry (the header, padding), or returns it with a slot that no relocation
// fills.
std::vector<PltJump> FindPltJumps(const PltCode& plt, const FileHeader& file);

}  // namespace perftape::elf
