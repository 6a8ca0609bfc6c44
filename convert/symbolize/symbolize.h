// SPDX-License-Identifier: Apache-2.0
// Profile -> Profile with names. Each distinct offset is looked up once, all offsets of a mapping
// in one batch. Samples do not change.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/base/result.h"

namespace perftape::symbolize {

// The result for the locations of one mapping.
struct MappingSymbols {
  std::string filename;
  std::string build_id;                      // as recorded; empty if unknown
  std::array<std::uint64_t, 4> counts = {};  // by Miss; kNone counts the named ones
  std::string problem;                       // why some have no name, for messages; may be empty
  std::string source = {};                   // the file that gave the names, for messages
  std::vector<std::string> tried = {};       // sources tried before it, and why each failed

  std::uint64_t count(Miss miss) const { return counts[static_cast<std::size_t>(miss)]; }
};

struct SymbolizeReport {
  std::vector<MappingSymbols> mappings;  // those with locations to resolve, in the profile's order
  std::uint64_t kept = 0;                // locations that already had names
  std::uint64_t unmapped = 0;            // locations without a name and without a mapping
  std::vector<std::string> problems = {};  // bundles that could not be read, and why

  std::uint64_t count(Miss miss) const;  // over all mappings
};

// What happens to existing names. If no better name is found, they stay.
enum class OldNames : std::uint8_t { kKeep, kReplace };

// Asks `symbolizer` for every location that has a mapping and no lines, or whose lines are to be
// replaced. If it returns an Error, the locations of that mapping stay as they are, and the message
// becomes the mapping's problem. Adds to `report`.
convert::Profile Symbolize(const convert::Profile& profile, Symbolizer& symbolizer,
                           SymbolizeReport& report, OldNames old_names = OldNames::kKeep);

}  // namespace perftape::symbolize
