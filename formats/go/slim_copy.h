// SPDX-License-Identifier: Apache-2.0
// Slim copies (formats/elf/slim.h) that also keep Go's tables, which name the functions of stripped
// binaries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/symbol_limits.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/slim.h"

namespace perftape::go {

// The same as elf::SlimCopy. Returns nothing if the file must be kept whole, or if the copy would
// exceed `limit`.
std::optional<std::vector<std::byte>> SlimCopy(const elf::ElfFile& file, elf::SlimDwarf dwarf,
                                               std::uint64_t limit = symbol_limits::kSymbolTables);

}  // namespace perftape::go
