// SPDX-License-Identifier: Apache-2.0
// The symbols in the tables of a file that may name code. symbols.h chooses the best one of each
// address.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/elf/elf_file.h"

namespace perftape::elf {

struct Candidate {
  std::string_view name;  // a view of the file or of a generated name; without "@VERSION"
  std::uint64_t start = 0, end = 0;  // equal if the size is unknown
  std::uint64_t section_end = 0;     // the symbol does not extend beyond it
  std::uint8_t type = STT_NOTYPE;
  std::uint8_t binding = STB_LOCAL;
  std::uint8_t underscores = 0;  // leading underscores of the name as perf demangles it
};

struct CandidateCounts {
  std::uint64_t damaged = 0;   // symbols with an invalid section or name
  std::uint64_t left_out = 0;  // bytes of tables above the limit (symbol_limits.h)
};

// Appends the symbols of all tables of `file`, .symtab first. Omits undefined, absolute and common
// symbols, data, section and file names, and the mapping symbols of assemblers (ARM's and RISC-V's
// "$d").
CandidateCounts AppendCandidates(const ElfFile& file, std::vector<Candidate>& out);

}  // namespace perftape::elf
