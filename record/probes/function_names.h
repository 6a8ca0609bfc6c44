// SPDX-License-Identifier: Apache-2.0
// The spellings of a function's name: that of its symbol, and those that perf report, c++filt, gdb,
// a traceback or the source show. All are compared in a canonical form. And the kernel's functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

// What a compiler made of a function, by the suffix of the symbol (GCC's clone_function_name;
// LLVM's ThinLTO and machine function splitter).
enum class CloneKind : std::uint8_t {
  kNone,
  kWhole,  // a function of its own, instead of the original: .constprop.0, .isra.0, .lto_priv.0
  kPart,   // the rest of a function whose beginning is inlined or in another symbol: .part.0
  kCold,   // reached by a jump from within the function, never called: .cold
};

struct CloneName {
  std::string_view base = {};    // "parse"
  std::string_view suffix = {};  // ".isra.0.cold"; empty if it is no clone
  CloneKind kind = CloneKind::kNone;
};

// Splits the symbol of a clone. The views are of `symbol`.
CloneName SplitClone(std::string_view symbol);

// Returns `name` without the parts in which spellings differ: blanks, tags such as [abi:cxx11],
// "std::__cxx11", "const T" for "T const", {anonymous} for (anonymous namespace), the arguments of
// std::string, "(void)", Go's "%2e" for a dot and the type arguments of Go ("[go.shape.int]" is
// "[...]").
std::string CanonicalName(std::string_view name);

// Returns the canonical forms of a mangled symbol of C++, Rust or D that has no clone suffix: with
// and without parameters, return type, template arguments, and hash. For other symbols, returns
// only their own.
std::vector<std::string> SpellingsOf(std::string_view symbol);

// Whether `canonical` is one of the spellings of this symbol.
bool IsSpellingOf(std::string_view canonical, std::string_view symbol);

// Returns the form to show: "shop::Cart::add(int)"; the symbol itself if it is not mangled.
std::string ReadableName(std::string_view symbol);

// Returns an identifier of `name` or of the glob that each symbol of this function contains; empty
// if there is none. It is a cheap test before a symbol is demangled.
std::string_view NecessaryIdentifier(std::string_view name);

// Returns the functions of the kernel and its modules that /proc/kallsyms lists, sorted. Their
// addresses may be hidden. Fails with the error of reading it.
Result<std::vector<std::string>> ReadKernelFunctions();

// Returns the functions in the text of /proc/kallsyms, sorted: lines "ADDRESS TYPE NAME [MODULE]"
// of the types t, T, w and W. Ignores other lines, and BPF programs.
std::vector<std::string> DecodeKernelFunctions(std::string_view kallsyms);

}  // namespace perftape::record
