// SPDX-License-Identifier: Apache-2.0
// The entries of the procedure linkage table: small jumps to functions of other files, for which
// the linker leaves no symbols. Which function an entry jumps to is told by the relocation of the
// slot that it loads; its code says which slot that is, whatever the table's layout (.plt, .plt.sec
// with IBT, .plt.got; of GNU ld, gold or lld).
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
  std::string_view name;  // a view of the file; empty for an IFUNC of this file itself, ...
  ImageAddress resolver;  // ... which is then known by where its resolver lies
};

// All that can be told, by section; x86-64 and arm64. Empty for other machines.
std::vector<PltEntry> ReadPlt(const ElfFile& file);

}  // namespace perftape::elf
