// SPDX-License-Identifier: Apache-2.0
#include "formats/go/slim_copy.h"

#include "formats/go/pc_line_table.h"

namespace perftape::go {

std::optional<std::vector<std::byte>> SlimCopy(const elf::ElfFile& file, elf::SlimDwarf dwarf,
                                               std::uint64_t limit) {
  std::vector<elf::FileRange> tables;
  if (const auto table = PcLineTable::Read(file)) tables = table->RangesRead();
  return elf::SlimCopy(file, {.dwarf = dwarf, .also = tables, .limit = limit});
}

}  // namespace perftape::go
