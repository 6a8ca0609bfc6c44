// SPDX-License-Identifier: Apache-2.0
// Linker names into those that people write: C++ (Itanium ABI), Rust (legacy and v0), D. Names of
// other languages stay as they are.
#pragma once

#include <string>

#include "convert/symbolize/symbol_options.h"

namespace perftape::symbolize {

// The name itself where it is not mangled, or where what it stands for would be absurdly long. Of
// "_ZN4core3ptr13drop_in_place17h0123456789abcdefE" always "core::ptr::drop_in_place"; of C++'s
// "_ZN4Tape4playIiEEvT_":
//
//   kFull       void Tape::play<int>(int)
//   kTemplates  Tape::play<int>             as perf report, and pprof with demangle=templates
//   kSimple     Tape::play                  as pprof unasked
//
// What marks a copy of a function that the compiler made (".cold", ".part.0") is shown by kFull
// alone. Safe to call from several threads.
std::string Demangle(const std::string& name, Demangling how = Demangling::kTemplates);

}  // namespace perftape::symbolize
