// SPDX-License-Identifier: Apache-2.0
// Encodes the parts of a perf.data other than records: the header of a file or of a pipe's stream,
// the feature sections after the records, and the temporary feature table that makes a compressed
// file readable while it is being written.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/header.h"

namespace perftape::perfdata {

// The offset of the fields that are written again: { data.size; event_types; features; } are the
// last 56 bytes of struct perf_file_header (tools/perf/util/header.h).
inline constexpr std::uint64_t kDataSizeAt = 48;

// A feature that is already in the file.
struct PlacedFeature {
  FeatureBit bit;
  Section section;
};

struct FileStart {
  std::vector<std::byte> bytes;
  std::vector<PlacedFeature> features;  // those within `bytes`, by bit
};

// The header, the ids, the attributes and `features`. The records follow at a multiple of 8. All
// attributes get the size of the largest: the header has one size for all of them, and perf
// advances by the size of each (tools/perf/util/header.c, read_attr).
FileStart FileHead(std::span<const Event> events, std::span<const Feature> features);

// The header, an ATTR record for each event, a FEATURE record for each feature, and an EVENT_UPDATE
// for each name. TRACING_DATA is a record of its own, with its bytes after it
// (tools/perf/util/synthetic-events.c, perf_event__synthesize_tracing_data). kUnsupported if the
// ids of an event do not fit into a record, kInvalidArgument if a feature does not.
Result<std::vector<std::byte>> PipeHead(std::span<const Event> events,
                                        std::span<const Feature> features);

// The bytes of the header from kDataSizeAt to its end.
struct HeaderTail {
  std::uint64_t data_size = 0;
  Section event_types = {};  // empty: current perf does not write them
  std::array<std::uint64_t, kFeatureBits / 64> features = {};

  void Set(FeatureBit bit) {
    const auto number = std::to_underlying(bit);
    features[number / 64] |= std::uint64_t{1} << (number % 64);
  }
};
static_assert(sizeof(HeaderTail) == FileHeader::kSize - kDataSizeAt);

// The table of { offset, size } in the order of the bits, then the sections. Sets the bits in
// `header`. `at` is the file offset of the table: the end of the records.
std::vector<std::byte> FeatureTable(std::span<const Feature> features, std::uint64_t at,
                                    HeaderTail& header);

// A feature table that is also a record. perf expands nothing without the feature COMPRESSED, and
// opens no file with a tracepoint without TRACING_DATA. It reads the feature table at the end of
// the records, and this offset changes with each commit. The bytes are a table while the records
// end before them. They are a record when more records follow.
//
//   u32 type = EVENT_TYPE; u16 misc; u16 size;   } offset and size of the section of bit 0, which
//   u64 event_id = 0;                            } perf never reads (HEADER_RESERVED)
//   char name[64] = { u64 offset, size;            offset and size of each section, by bit
//                     payload of COMPRESSED }
//
// perf ignores EVENT_TYPE records since Linux 3.11 (session.c). `at` is the file offset at which
// the bytes are written first. Copies at later offsets still point to the payload there. An empty
// `compressed` is no feature. `placed` is sorted by bit and precedes COMPRESSED. All must fit. Sets
// the bits in `header`.
std::vector<std::byte> TableInARecord(std::uint64_t at, std::span<const PlacedFeature> placed,
                                      Bytes compressed, HeaderTail& header);

}  // namespace perftape::perfdata
