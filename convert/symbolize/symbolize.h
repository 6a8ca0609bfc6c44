// SPDX-License-Identifier: Apache-2.0
// Profile -> Profile with names. Each distinct offset is looked up once, all of a mapping in one
// batch; samples are not touched.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/base/result.h"

namespace perftape::symbolize {

// What became of the locations of one mapping.
struct MappingSymbols {
  std::string filename;
  std::string build_id;                      // of the recording; empty where unknown
  std::array<std::uint64_t, 4> counts = {};  // by Miss; those of kNone were named
  std::string problem;                  // why not all were, for people; empty where that is plain
  std::string source = {};              // which file gave the names, for people
  std::vector<std::string> tried = {};  // sources tried before it, and why each failed

  std::uint64_t count(Miss miss) const { return counts[static_cast<std::size_t>(miss)]; }
};

struct SymbolizeReport {
  std::vector<MappingSymbols> mappings;  // those that anything was asked of, in the profile's order
  std::uint64_t kept = 0;                // locations that had names already
  std::uint64_t unmapped = 0;            // locations without a name and without a mapping
  std::vector<std::string> problems = {};  // bundles that could not be read, and why

  std::uint64_t count(Miss miss) const;  // over all mappings
};

// What becomes of names that are there already. Where nothing better is found, they stay.
enum class OldNames : std::uint8_t { kKeep, kReplace };

// Asks `symbolizer` for every location that has a mapping and no lines, or whose lines are to be
// replaced. Where it gives an Error, the locations of that mapping stay as they are, and its
// message is the mapping's problem. Adds to `report`.
convert::Profile Symbolize(const convert::Profile& profile, Symbolizer& symbolizer,
                           SymbolizeReport& report, OldNames old_names = OldNames::kKeep);

}  // namespace perftape::symbolize
