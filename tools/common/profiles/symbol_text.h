// SPDX-License-Identifier: Apache-2.0
// How many locations got names, and from which files, as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/symbolize/symbolize.h"

namespace perftape::cli {

// Whether --show-sources was given.
enum class SymbolDetail : std::uint8_t { kSummary, kSources };

// "symbols: 1234 locations named; without a name: 12 no file, 3 another build, 41 no symbol". A
// summary names the option that prints the reasons.
std::string SymbolLine(const symbolize::SymbolizeReport& report, SymbolDetail detail);

// The same for each mapping, with the reason where one is known.
std::vector<std::string> MappingLines(const symbolize::SymbolizeReport& report);

// For --show-sources: which file gave names to each mapping, and which files were tried before it.
//
//   /usr/bin/ls 2d5f…: /usr/lib/debug/.build-id/2d/5f….debug
//     not used: /usr/bin/ls: build id 77ab…, recorded was 2d5f…
std::vector<std::string> SymbolSourceLines(const symbolize::SymbolizeReport& report);

}  // namespace perftape::cli
