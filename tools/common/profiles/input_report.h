// SPDX-License-Identifier: Apache-2.0
// Messages about what was read of an input and what was not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/combine.h"
#include "convert/import/import_report.h"
#include "convert/unwind/unwind_report.h"
#include "tools/common/cli/console.h"

namespace perftape::cli {

// Returns "4950 samples, 12 lost while recording; 80123 frames, 40 of them in no mapping". For
// folded stacks it counts lines.
std::string ReadLine(const convert::ImportReport& report, std::string_view format = "perf.data");

// Returns a line for each kind of sample or record that could not be read, and for each other
// problem. Empty for an undamaged input.
std::vector<std::string> DamageLines(const convert::ImportReport& report);

// Returns a line for each remark on an undamaged input, for --verbose.
std::vector<std::string> RemarkLines(const convert::ImportReport& report);

// Returns "990 of 1000 copied stacks unwound to the outermost frame; 10 ended at the end of the
// copy".
std::string UnwoundLine(const offline_unwind::UnwindReport& unwound);

// Returns whether so many stacks are cut that the user should know without asking.
bool IsMostlyCut(const offline_unwind::UnwindReport& unwound);

// Returns a line for each binary whose unwind table was needed and not found.
std::vector<std::string> MissingTableLines(const offline_unwind::UnwindReport& unwound);

// Prints what could not be read of an input, and what is missing to read it better. Returns whether
// it is undamaged.
bool PrintInputProblems(const convert::InputReport& input, Console& console);

// Reports how the copied stacks of an input were unwound. Most samples being cut is worth a
// warning, single ones are not: copies of deep stacks are often too short.
void PrintUnwound(const std::string& name, const offline_unwind::UnwindReport& unwound,
                  Console& console);

// Returns the names of all events that the inputs describe, also of those without samples.
std::vector<std::string> RecordedEvents(const std::vector<convert::InputReport>& inputs);

}  // namespace perftape::cli
