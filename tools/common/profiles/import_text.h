// SPDX-License-Identifier: Apache-2.0
// How much of an input was read, and what not, for a person.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/import/import_report.h"

namespace perftape::cli {

// "4950 samples, 12 lost while recording; 80123 frames, 40 of them in no mapping".
// Of folded stacks it is lines that are counted.
std::string ReadLine(const convert::ImportReport& report, std::string_view format = "perf.data");

// Samples or records that were there but could not be read, and other problems; a line each, none
// for a sound input.
std::vector<std::string> DamageLines(const convert::ImportReport& report);

// What is worth knowing of a sound input, for --verbose; a line each.
std::vector<std::string> RemarkLines(const convert::ImportReport& report);

}  // namespace perftape::cli
