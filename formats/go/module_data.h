// SPDX-License-Identifier: Apache-2.0
// The linker's description of a Go binary for its runtime, as far as names need it: the addresses
// of the code and of the trees of inlined calls. A stripped file has no symbol for it. It is found
// by two words: the address of the pc-line table, and further on its number of functions
// (moduledata, src/runtime/symtab.go).
#pragma once

#include <cstdint>
#include <optional>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/go/image.h"
#include "formats/go/pclntab.h"

namespace perftape::go {

struct ModuleData {
  Bytes words;                 // all words that are read
  ImageAddress text;           // start of the code
  ImageAddress tables_end;     // end of the pc-line table
  ImageAddress function_data;  // "go:func.*", since Go 1.18; else 0
};

// For tables since Go 1.16. Returns nothing if it is not found.
std::optional<ModuleData> FindModuleData(const Image& image, ImageAddress table,
                                         const TableHeader& header);

}  // namespace perftape::go
