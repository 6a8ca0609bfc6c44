// SPDX-License-Identifier: Apache-2.0
// Corrects a damaged file header so that it agrees with the file's contents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/rewrite/feature_table.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/header.h"

namespace perftape::rewrite {

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
