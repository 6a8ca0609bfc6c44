// SPDX-License-Identifier: Apache-2.0
// Recovers a damaged perf.data. The new file has every complete record, in the same order. Its
// header is rebuilt. It has the features that can be decoded, or rebuilt from the records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convert/rewrite/new_features.h"
#include "convert/rewrite/record_walk.h"
#include "convert/rewrite/recovered_layout.h"
#include "convert/rewrite/rewrite_report.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"

namespace perftape::rewrite {

// The result of a recovery: what was kept, dropped and rebuilt, with offsets.
struct RecoverReport {
  // The largest number of stretches and guesses that are listed. A file of random bytes has
  // millions.
  static constexpr std::size_t kMostStretches = 1000;

  perfdata::Container container = perfdata::Container::kFile;
  std::size_t events = 0;
  AttributesFrom attributes_from = AttributesFrom::kTable;
  std::vector<std::string> corrections;

  RecordCounts kept;
  // Records whose content is in the new header: ATTR, FEATURE, TRACING_DATA. COMPRESSED records are
  // not counted, only their contents.
  RecordCounts moved;
  // Complete records of types that perf 6.1 does not support. With these records in the file, it
  // would read nothing.
  RecordCounts left_out;
  std::map<perfdata::RecordType, StreamPosition> first_left_out;  // the first record of each type
  // Kept records whose header counted bytes after the trailer, which are now removed
  // (formats/perfdata/kernel_size.h). Nothing is lost with them.
  std::uint64_t resized_records = 0;

  std::vector<Stretch> dropped;  // the first kMostStretches, in file order
  std::uint64_t stretches = 0;   // total number
  std::uint64_t dropped_bytes = 0;

  std::vector<FeatureOutcome> features;

  std::uint64_t records() const { return TotalOf(kept); }
  std::uint64_t samples() const { return CountOf(kept, perfdata::RecordType::kSample); }
  // Returns whether the new file has everything that the old one had, and nothing was guessed.
  bool is_whole() const;
};

// Writes what can be read of `file` to `output`. `file` may be of any container, version and byte
// order. The output is a little-endian PERFILE2 file, uncompressed, that perf 6.1 opens. The output
// gets its name when it is complete, and replaces an existing file. A bundle in `file` is copied.
// Memory does not grow with the file's length.
//
// Fails with kTruncated or kCorrupt, naming the offset, if nothing can be recovered. Fails with kIo
// or kPermission as the output does. After a failure nothing is written.
Result<RecoverReport> Recover(Bytes file, const std::filesystem::path& output);

}  // namespace perftape::rewrite
