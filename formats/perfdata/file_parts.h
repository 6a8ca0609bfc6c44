// SPDX-License-Identifier: Apache-2.0
// Encodes what a perf.data holds besides records: the header of a file or of a pipe's stream, the
// feature sections after the records, and the temporary feature table that makes a compressed file
// readable while it is being written.
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

// Where the fields lie that are written again: { data.size; event_types; features; } are the last
// 56 bytes of struct perf_file_header (tools/perf/util/header.h).
inline constexpr std::uint64_t kDataSizeAt = 48;

// The header, the ids and the attributes; the records begin behind it, at a multiple of 8. All
// attributes are made as large as the largest: the table has one size for them, and perf walks it
// by that of each (read_attr).
std::vector<std::byte> FileHead(std::span<const Event> events);

// The header, an ATTR record for each event, a FEATURE record for each feature, and an EVENT_UPDATE
// for each name. kUnsupported for an event with more ids than a record holds, kInvalidArgument for
// a feature that is larger.
Result<std::vector<std::byte>> PipeHead(std::span<const Event> events,
                                        std::span<const Feature> features);

// The bytes of the header from kDataSizeAt on.
struct HeaderTail {
  std::uint64_t data_size = 0;
  Section event_types = {};  // nobody writes them any more
  std::array<std::uint64_t, kFeatureBits / 64> features = {};

  void Set(FeatureBit bit) {
    const auto number = std::to_underlying(bit);
    features[number / 64] |= std::uint64_t{1} << (number % 64);
  }
};
static_assert(sizeof(HeaderTail) == FileHeader::kSize - kDataSizeAt);

// The table of { offset, size } in the order of the bits, then the sections. Sets the bits. `at` is
// where it is going to lie: the end of the records.
std::vector<std::byte> FeatureTable(std::span<const Feature> features, std::uint64_t at,
                                    HeaderTail& header);

// perf expands nothing without the feature COMPRESSED, and looks for the feature table where the
// records end, which is at another offset after each commit. These bytes are both: a table, for as
// long as the records end before them, and a record, as soon as they go on behind them.
//
//   u32 type = EVENT_TYPE; u16 misc; u16 size;   } offset and size of the section of bit 0, which
//   u64 event_id = 0;                            } no perf ever looks at (HEADER_RESERVED)
//   char name[64] = { u64 offset, size;            those of the section COMPRESSED
//                     payload of COMPRESSED }
//
// perf has read over EVENT_TYPE records since Linux 3.11 (session.c). `at` is where the bytes lie
// first; other fields point there, too. `payload` has at most 48 bytes. Sets the two bits.
std::vector<std::byte> TableInARecord(std::uint64_t at, Bytes payload, HeaderTail& header);

}  // namespace perftape::perfdata
