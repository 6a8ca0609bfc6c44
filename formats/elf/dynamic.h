// SPDX-License-Identifier: Apache-2.0
// The parts of a program or library that the dynamic linker reads (gABI, "Dynamic Section"): the
// libraries that it needs, and the functions that it uses from them.
#pragma once

#include <string_view>
#include <vector>

#include "formats/elf/elf_file.h"

namespace perftape::elf {

// The texts are views of the file.
struct DynamicLinks {
  std::vector<std::string_view> needed;    // DT_NEEDED: "libc.so.6"
  std::vector<std::string_view> run_path;  // directories of DT_RUNPATH or DT_RPATH; "$ORIGIN/lib"
};

// Reads a file with section headers. Empty for a static program, and if the table is damaged.
DynamicLinks ReadDynamicLinks(const ElfFile& file);

// Returns the names of the undefined symbols in .dynsym, in its order.
std::vector<std::string_view> ReadImports(const ElfFile& file);

}  // namespace perftape::elf
