// SPDX-License-Identifier: Apache-2.0
// How many locations got names, and from which files, as messages and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/symbolize/symbolize.h"
#include "formats/json/value.h"

namespace perftape::cli {

// Whether --show-sources was given.
enum class SymbolDetail : std::uint8_t { kSummary, kSources };

// Returns "symbols: 1234 locations named; without a name: 12 no file, 3 another build, 41 no
// symbol". A summary also names the option that prints the reasons.
std::string SymbolLine(const symbolize::SymbolizeReport& report, SymbolDetail detail);

// Returns what names code that was made at run time, if that is a tenth of the locations or more;
// else nothing.
std::string JitLine(const symbolize::SymbolizeReport& report);

// Returns the same for each mapping, with the reason if it is known.
std::vector<std::string> MappingLines(const symbolize::SymbolizeReport& report);

// For --show-sources: the files that gave names to each mapping, and the files that were tried
// before.
//
//   /usr/bin/ls 2d5f…: /usr/lib/debug/.build-id/2d/5f….debug
//     not used: /usr/bin/ls: build id 77ab…, recorded was 2d5f…
std::vector<std::string> SymbolSourceLines(const symbolize::SymbolizeReport& report);

json::Value SymbolsJson(const symbolize::SymbolizeReport& report);

}  // namespace perftape::cli
