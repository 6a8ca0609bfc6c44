// SPDX-License-Identifier: Apache-2.0
// Corrects a damaged file header so that it agrees with the file's contents, and finds the feature
// table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/header.h"

namespace perftape::rewrite {

// The feature table of a damaged file. No field contains its offset: it starts where the records
// end. It has one { u64 offset, size; } for each bit that is set in the header. perf writes the
// sections directly after the table, without gaps (tools/perf/util/header.c,
// perf_header__adds_write). So the table can be found even if the size of the records is wrong.
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

// Reads the first 16 bytes. If either magic or size is wrong, it is recovered from the other one
// and the bytes that follow. Fails with kCorrupt or kTruncated if the file is not a perf.data.
Result<perfdata::Preamble> FindPreamble(Bytes file, std::vector<std::string>& corrections);

// Corrects impossible offsets of attributes and records. perf writes header, ids, attributes and
// records in this order. Appends a message for each correction.
void RecoverHeader(Bytes file, std::endian order, perfdata::FileHeader& header,
                   std::vector<std::string>& corrections);

// The range of a file's records, and the feature table after it.
struct RecordsExtent {
  std::uint64_t offset = 0, size = 0;
  std::optional<FeatureTable> table;
  std::uint64_t unclaimed_from = 0;  // the end of all sections in the header
};

// `header` must come from RecoverHeader. `events` may be empty.
RecordsExtent FindRecords(Bytes file, std::endian order, const perfdata::FileHeader& header,
                          const perfdata::EventTable& events,
                          std::vector<std::string>& corrections);

}  // namespace perftape::rewrite
