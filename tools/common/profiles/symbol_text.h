// SPDX-License-Identifier: Apache-2.0
// How many places got names, and from where, for a person.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/symbolize/symbolize.h"

namespace perftape::cli {

// Whether --show-sources was given.
enum class SymbolDetail : std::uint8_t { kSummary, kSources };

// "symbols: 1234 places named; 56 without a name: 12 no file, 3 of another build, 41 no symbol"; a
// summary names the option that says more.
std::string SymbolLine(const symbolize::SymbolizeReport& report, SymbolDetail detail);

// The same for each mapping, with the reason where one is known.
std::vector<std::string> MappingLines(const symbolize::SymbolizeReport& report);

// For --show-sources: which file gave names to each mapping, and what was tried before it.
//
//   /usr/bin/ls 2d5f…: /usr/lib/debug/.build-id/2d/5f….debug
//     not /usr/bin/ls: build id 77ab…, recorded was 2d5f…
std::vector<std::string> SymbolSourceLines(const symbolize::SymbolizeReport& report);

}  // namespace perftape::cli
