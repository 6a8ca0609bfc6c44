// SPDX-License-Identifier: Apache-2.0
// The layout of a damaged perf.data: where its records are, the attributes to decode them with, and
// its feature sections. The header, the features and the records are checked against each other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/header.h"

namespace perftape::rewrite {

enum class AttributesFrom : std::uint8_t {
  kTable,      // from the file's header
  kEventDesc,  // from the feature EVENT_DESC
  kRecords,    // from HEADER_ATTR records
};

struct RecoveredLayout {
  Bytes file;  // the whole file
  std::endian order = std::endian::native;
  perfdata::Container container = perfdata::Container::kFile;
  perfdata::EventTable events;  // with names
  AttributesFrom attributes_from = AttributesFrom::kTable;

  Bytes stream;  // the records
  std::uint64_t stream_offset = 0;

  std::map<perfdata::FeatureBit, Bytes> features;   // sections, not checked yet
  std::vector<perfdata::FeatureBit> lost_features;  // the bit is set, but there is no section

  // The offset of the bytes after all sections, which belong to none of them. The file's size if
  // there are no such bytes.
  std::uint64_t unclaimed_from = 0;

  // Values in the file that were corrected: "at 0x30: data size is 0; …".
  std::vector<std::string> corrections;
};

// `file` must outlive the layout. Fails with kCorrupt or kTruncated, naming the offset, if there is
// no event, because then no record can be decoded.
Result<RecoveredLayout> RecoverLayout(Bytes file);

}  // namespace perftape::rewrite
