// SPDX-License-Identifier: Apache-2.0
// What the Go linker tells the runtime of a binary, as far as names need it: where the code lies,
// and where the trees of inlined calls do. There is no symbol for it in a stripped file; it is
// found as the words that begin with the address of the pc-line table and have its number of
// functions at the right address (moduledata, src/runtime/symtab.go).
#pragma once

#include <cstdint>
#include <optional>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/go/image.h"
#include "formats/go/pclntab.h"

namespace perftape::go {

struct ModuleData {
  Bytes words;                 // as far as they are read
  ImageAddress text;           // where the code begins
  ImageAddress tables_end;     // where the pc-line table ends
  ImageAddress function_data;  // "go:func.*", since 1.18; else 0
};

// Of tables since 1.16. Nothing where it is not found.
std::optional<ModuleData> FindModuleData(const Image& image, ImageAddress table,
                                         const TableHeader& header);

}  // namespace perftape::go
