// SPDX-License-Identifier: Apache-2.0
// The entries of the procedure linkage table: small jumps to functions of other files, for which
// linkers write no symbols. The code of an entry loads a slot; the relocation of this slot names
// the function. That works for every layout (.plt, .plt.sec with IBT, .plt.got; of GNU ld, gold or
// lld).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/elf/elf_file.h"

namespace perftape::elf {

struct PltEntry {
  ImageAddress start;
  std::uint64_t size = 0;
  std::string_view name;  // a view of the file; empty for an IFUNC of this file, ...
  ImageAddress resolver;  // ... which the address of its resolver identifies
};

// Reads all entries that can be resolved, by section. Supports the machines of FindPltJumps; empty
// for others.
std::vector<PltEntry> ReadPlt(const ElfFile& file);

}  // namespace perftape::elf
