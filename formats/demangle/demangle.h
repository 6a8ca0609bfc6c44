// SPDX-License-Identifier: Apache-2.0
// Converts linker names into source names: C++ (Itanium ABI), Rust (legacy and v0), D, OCaml, and
// descriptors of Java's methods. Names of other languages are unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perftape::demangle {

enum class Demangling : std::uint8_t {
  kNone,       // linker names
  kSimple,     // without parameters, return types and template arguments
  kTemplates,  // without parameters and return types, as perf report shows them
  kSignature,  // with parameters, without return types
  kFull,       // "void f<int>(std::string const&)"
};

// Returns `name` itself if it is not mangled, or if the demangled name would be excessively long.
// For "_ZN4core3ptr13drop_in_place17h0123456789abcdefE" it is always "core::ptr::drop_in_place".
// For C++'s "_ZN4Tape4playIiEEvT_" it is
//
//   kFull       void Tape::play<int>(int)
//   kSignature  Tape::play<int>(int)
//   kTemplates  Tape::play<int>             as perf report, and pprof with demangle=templates
//   kSimple     Tape::play                  as pprof by default
//
// Only kFull and kSignature show the suffix of a copy of a function that the compiler made
// (".cold", ".part.0"). Safe to call from several threads.
std::string Demangle(const std::string& name, Demangling how = Demangling::kTemplates);

// The same for a name of Rust, with the hashes by which the compiler distinguishes copies of a
// function and versions of a crate: "core::fmt::write::h0123456789abcdef",
// "mycrate[ca63f166dbe9294]::foo". `name` itself for other languages.
std::string DemangleWithHashes(const std::string& name);

// Shows a name in the source as part of the function with the linker name `enclosing`, as the
// demangled name of a local function is: "Tape::play(int)::{lambda(int)#1}::operator()".
std::string DemangleWithin(const std::string& enclosing, std::string_view name, Demangling how);

}  // namespace perftape::demangle
