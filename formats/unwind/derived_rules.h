// SPDX-License-Identifier: Apache-2.0
// Rules for code without call frame information, from its instructions: hand-written assembler,
// musl, and what was compiled with -fno-asynchronous-unwind-tables. Each path is followed from the
// entry of a function on, and the bytes that it pushes give the distance to the return address.
//
// A rule is derived only if it is certain. A path ends at an unknown instruction, and at one that
// sets the stack pointer to another value, unless the frame pointer keeps the frame. Where two
// paths meet with different distances, there is no rule. A function that returns with anything else
// than its return address on top of the stack has no rules at all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/unwind/rule.h"

namespace perftape::unwind {

// A range of executable code without call frame information.
struct UndescribedCode {
  std::uint64_t start = 0;
  Bytes bytes;
};

// A function of the symbol table; with start == end, a label that may begin one.
struct FunctionExtent {
  std::uint64_t start = 0, end = 0;
};

// The rule applies from `start` up to the next row. The last row before a gap has kNone.
struct DerivedRow {
  std::uint64_t start = 0;
  Rule rule;
};

// Derives the rules of x86-64 code. `functions` are sorted by start. Without symbols, a function
// begins at the target of a call, at the start of the code, and after the end of the previous
// function. Returns rows sorted by address, each with a different rule than the previous one. Takes
// time and memory proportional to the code.
std::vector<DerivedRow> DeriveRules(const UndescribedCode& code,
                                    std::span<const FunctionExtent> functions);

}  // namespace perftape::unwind
