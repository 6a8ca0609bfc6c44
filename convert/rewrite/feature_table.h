// SPDX-License-Identifier: Apache-2.0
// The feature table of a damaged file. Nothing points to it: it lies where the records end, one
// { u64 offset, size; } for each set bit of the header, and perf writes the sections right behind
// it, one behind the other (tools/perf/util/header.c, perf_header__adds_write). By that it can be
// found again where the size of the records is wrong.
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
  std::vector<perfdata::FeatureBit> lost;  // whose bit is set, but whose section is not in the file
};

// The table of a header with these bits: at `expected`, where the header says that the records end,
// or else anywhere from `from` on. Nothing where there is none.
std::optional<FeatureTable> FindFeatureTable(Bytes file, const perfdata::FileHeader& header,
                                             std::endian order, std::uint64_t expected,
                                             std::uint64_t from);

// The bits that are set, lowest first.
std::vector<perfdata::FeatureBit> FeaturesOf(const perfdata::FileHeader& header);

}  // namespace perftape::rewrite
