// SPDX-License-Identifier: Apache-2.0
// The symbols of a file that may name code, as its tables have them. symbols.h chooses the best one
// of each address.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/elf/elf_file.h"

namespace perftape::elf {

struct Candidate {
  std::string_view name;             // of the file, or made; without "@VERSION"
  std::uint64_t start = 0, end = 0;  // equal where the size is not told
  std::uint64_t section_end = 0;     // no symbol reaches beyond
  std::uint8_t type = STT_NOTYPE;
  std::uint8_t binding = STB_LOCAL;
  std::uint8_t underscores = 0;  // that the name begins with, as perf would demangle it
};

struct CandidateCounts {
  std::uint64_t damaged = 0;   // symbols that contradict the file: no such section, no such name
  std::uint64_t left_out = 0;  // bytes of tables beyond what is read of a file (symbol_limits.h)
};

// Appends the symbols of all tables of `file`, .symtab first. Which are left out: undefined,
// absolute and common ones; data; section and file names; marks that assemblers set within
// functions (ARM's and RISC-V's "$d").
CandidateCounts AppendCandidates(const ElfFile& file, std::vector<Candidate>& out);

}  // namespace perftape::elf
