// SPDX-License-Identifier: Apache-2.0
// The result of a recovery: what was kept, dropped and rebuilt, with offsets.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convert/rewrite/new_features.h"
#include "convert/rewrite/record_counts.h"
#include "convert/rewrite/record_walk.h"
#include "convert/rewrite/recovered_layout.h"
#include "formats/perfdata/abi.h"

namespace perftape::rewrite {

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
  // Complete records of types that perf 6.1 does not support. With them it would read nothing of
  // the file.
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

}  // namespace perftape::rewrite
