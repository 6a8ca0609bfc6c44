// SPDX-License-Identifier: Apache-2.0
// The code of linkage tables, read just so far that it tells which slot of the global offset table
// each entry jumps through. What linkers write is told by the ABI of each processor ("Procedure
// Linkage Table"), and by tries with GNU ld, gold, lld.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/elf/headers.h"

namespace perftape::elf {

// One entry, `at` bytes into the code.
struct PltJump {
  std::size_t at = 0, size = 0;
  std::uint64_t slot = 0;  // where the address of the function is kept; or ...
  std::optional<std::uint32_t> relocation = {};  // ... which relocation of .rela.plt fills that
};

struct PltCode {
  Bytes code;
  std::uint64_t address = 0;     // of its first byte
  std::uint64_t entry_size = 0;  // as its section says; not to be relied on
  std::uint64_t got = 0;         // _GLOBAL_OFFSET_TABLE_, to which i386 counts
};

// Known for x86-64, i386, arm64, arm, RISC-V and s390x; of other machines nothing. What is no entry
// (the header, padding) is left out, or has a slot that no relocation fills.
std::vector<PltJump> FindPltJumps(const PltCode& plt, const FileHeader& file);

}  // namespace perftape::elf
