// SPDX-License-Identifier: Apache-2.0
// Converts linker names into source names: C++ (Itanium ABI), Rust (legacy and v0), D. Names of
// other languages are unchanged.
#pragma once

#include <string>

#include "convert/symbolize/symbol_options.h"

namespace perftape::symbolize {

// Returns `name` itself if it is not mangled, or if the demangled name would be excessively long.
// For "_ZN4core3ptr13drop_in_place17h0123456789abcdefE" it is always "core::ptr::drop_in_place".
// For C++'s "_ZN4Tape4playIiEEvT_" it is
//
//   kFull       void Tape::play<int>(int)
//   kTemplates  Tape::play<int>             as perf report, and pprof with demangle=templates
//   kSimple     Tape::play                  as pprof by default
//
// Only kFull shows the suffix of a copy of a function that the compiler made (".cold", ".part.0").
// Safe to call from several threads.
std::string Demangle(const std::string& name, Demangling how = Demangling::kTemplates);

}  // namespace perftape::symbolize
