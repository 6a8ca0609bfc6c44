// SPDX-License-Identifier: Apache-2.0
// Prints what was read of a tool's inputs.
#pragma once

#include <string>

#include "convert/combine.h"
#include "convert/unwind/unwind_report.h"
#include "tools/common/cli/console.h"

namespace perftape::cli {

// Prints what could not be read of an input, and what is missing to read it better. Returns whether
// it is undamaged.
bool PrintInputProblems(const convert::InputReport& input, Console& console);

// Reports how the copied stacks of an input were unwound. Most samples being cut is worth a
// warning, single ones are not: copies of deep stacks are often too short.
void PrintUnwound(const std::string& name, const offline_unwind::UnwindReport& unwound,
                  Console& console);

}  // namespace perftape::cli
