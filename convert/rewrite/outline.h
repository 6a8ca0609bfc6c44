// SPDX-License-Identifier: Apache-2.0
// What a damaged perf.data says of itself, as far as it can be believed: where its records lie, how
// they are to be read, which features it has. Each source is held against the others and against
// the records.
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
  kTable,      // of the file's header
  kEventDesc,  // the feature
  kRecords,    // HEADER_ATTR
};

struct Outline {
  Bytes file;  // all of it
  std::endian order = std::endian::native;
  perfdata::Container container = perfdata::Container::kFile;
  perfdata::EventTable events;  // with names
  AttributesFrom attributes_from = AttributesFrom::kTable;

  Bytes stream;  // the records
  std::uint64_t stream_offset = 0;

  std::map<perfdata::FeatureBit, Bytes> features;   // their sections, not yet judged
  std::vector<perfdata::FeatureBit> lost_features;  // whose bits are set, and no more

  // Where the bytes begin that lie behind all of these, and are no one's; the file's size where
  // there are none.
  std::uint64_t unclaimed_from = 0;

  // What was taken otherwise than the file says: "at 0x30: data size is 0; …".
  std::vector<std::string> repairs;
};

// `file` must outlive the outline. kCorrupt or kTruncated, naming the offset, where not one event
// can be found: then no record can be read.
Result<Outline> ReadOutline(Bytes file);

}  // namespace perftape::rewrite
