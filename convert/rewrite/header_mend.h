// SPDX-License-Identifier: Apache-2.0
// A file's header, made to agree with what lies in the file.
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

// The first 16 bytes, where one of magic and size may be wrong: the other, and what follows, tell.
// kCorrupt, kTruncated where this is no perf.data.
Result<perfdata::Preamble> FindPreamble(Bytes file, std::vector<std::string>& repairs);

// Corrects where the attributes and the records begin, where the header says what cannot be: perf
// writes header, ids, attributes and records one behind the other.
void MendHeader(Bytes file, std::endian order, perfdata::FileHeader& header,
                std::vector<std::string>& repairs);

// Where the records of a file lie, and the feature table behind them.
struct RecordsPlace {
  std::uint64_t offset = 0, size = 0;
  std::optional<FeatureTable> table;
  std::uint64_t unclaimed_from = 0;  // behind all sections that the header tells of
};

// `header` was mended; `events` may be empty.
RecordsPlace FindRecords(Bytes file, std::endian order, const perfdata::FileHeader& header,
                         const perfdata::EventTable& events, std::vector<std::string>& repairs);

}  // namespace perftape::rewrite
