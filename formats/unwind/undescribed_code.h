// SPDX-License-Identifier: Apache-2.0
// The code of a binary that its call frame information does not describe, with the rules that are
// derived from its instructions (derived_rules.h).
#pragma once

#include <cstdint>

#include "formats/elf/elf_file.h"
#include "formats/unwind/function_rows.h"
#include "formats/unwind/rule_set.h"
#include "formats/unwind/table_budget.h"

namespace perftape::unwind {

// Adds rules for code in gaps between the functions of an x86-64 binary. Reads at most
// `undescribed_bytes` of code, from the lowest address on, and symbols only if there is such code.
// With more than `symbol_bytes` of symbol tables, it adds nothing. Reports to `budget` if there is
// more code, or if it must stop before the end.
//
// Leaves out programs of Go, which have their own stacks and keep frame pointers, linkage tables,
// and the padding between functions.
void AddDerivedRules(const elf::ElfFile& file, TableBudget& budget, FunctionRows& functions,
                     RuleSet& rules);

}  // namespace perftape::unwind
