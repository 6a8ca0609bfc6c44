// SPDX-License-Identifier: Apache-2.0
// Rewrites a perf.data of any container, version and byte order as little-endian PERFILE2: as a
// file or a pipe's stream, compressed or not, limited to what a given version of perf can read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convert/rewrite/new_features.h"
#include "convert/rewrite/reader_limits.h"
#include "convert/rewrite/record_counts.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"
#include "formats/perfdata/header.h"
#include "formats/perfdata/record.h"

namespace perftape::rewrite {

struct NormalizeOptions {
  perfdata::Container container = perfdata::Container::kFile;
  std::optional<int> compression_level = {};  // of zstd, 1 to 22; without one nothing is compressed
  const ReaderLimits* reader = nullptr;       // who is to read it; null: whoever knows all of it
  // Which samples to keep: an entry for each SAMPLE record in file order. Null: all.
  const std::vector<bool>* kept_samples = nullptr;
};

// A record that was not written.
struct DroppedRecord {
  perfdata::RecordView header;  // without its bytes, which do not last
  std::size_t size = 0;
  std::string reason;  // with its offset: "record at 0x1a8: SAMPLE of 24 bytes: ..."
};

struct NormalizeReport {
  // The most dropped records that are listed.
  static constexpr std::size_t kMostDropped = 1000;

  RecordCounts kept;
  // Records that became a part of the header: ATTR, FEATURE, TRACING_DATA, BUILD_ID; FINISHED_ROUND
  // of a directory, whose rounds are not those of one file. COMPRESSED ones are not counted at all,
  // but what was in them.
  RecordCounts moved;
  // Complete records of types that the reader does not know.
  RecordCounts left_out;
  std::uint64_t filtered_samples = 0;  // left out as kept_samples asks
  // Damaged records that were not written: too short for their contents, of an unknown event, or in
  // the other byte order with unknown fields.
  RecordCounts lost;
  std::vector<DroppedRecord> dropped;  // the first kMostDropped of them, in the order of the file
  std::vector<FeatureOutcome> features;
  std::vector<std::string> problems;  // what was wrong with the input but could be passed over
  std::optional<Error> damage;        // why the input was not read to its end
  std::uint64_t size = 0;             // bytes written

  std::uint64_t records() const { return TotalOf(kept); }  // those kept
  std::uint64_t samples() const { return CountOf(kept, perfdata::RecordType::kSample); }
  // Whether nothing was lost, apart from what was left out on purpose.
  bool is_whole() const;
};

// Writes every sound record of `input`, in the order of the file, to `output`, which has its name
// when it is complete, and replaces what had it; "-" is stdout, where only a pipe's stream can go.
// A stream is copied into a temporary file first. A bundle in the input goes along into a file.
// Memory does not follow the input's length.
//
// As Reader::Open where the input is none; kInvalidArgument for a file to stdout or a level that
// zstd does not have; kIo, kPermission of the output. Then nothing has the output's name.
Result<NormalizeReport> Normalize(Input& input, const std::filesystem::path& output,
                                  const NormalizeOptions& options);

}  // namespace perftape::rewrite
