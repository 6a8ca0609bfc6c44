// SPDX-License-Identifier: Apache-2.0
// The feature table of a damaged file. No field contains its offset: it starts where the records
// end. It has one { u64 offset, size; } for each bit that is set in the header. perf writes the
// sections directly after the table, without gaps (tools/perf/util/header.c,
// perf_header__adds_write). So the table can be found even if the size of the records is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/header.h"

namespace perftape::rewrite {

struct FeatureTable {
  std::uint64_t offset = 0;
  std::map<perfdata::FeatureBit, Bytes> sections;
  std::vector<perfdata::FeatureBit> lost;  // bit set, but no section in the file
};

// Searches the table of a header with these bits. Tries `expected` first, the end of the records
// according to the header, then all offsets from `from` on. Returns nothing if there is none.
std::optional<FeatureTable> FindFeatureTable(Bytes file, const perfdata::FileHeader& header,
                                             std::endian order, std::uint64_t expected,
                                             std::uint64_t from);

// Returns the bits that are set, lowest first.
std::vector<perfdata::FeatureBit> FeaturesOf(const perfdata::FileHeader& header);

}  // namespace perftape::rewrite
