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
  // The most stretches, and guesses, that are listed. A file of random bytes has millions.
  static constexpr std::size_t kMostStretches = 1000;

  perfdata::Container container = perfdata::Container::kFile;
  std::size_t events = 0;
  AttributesFrom attributes_from = AttributesFrom::kTable;
  std::vector<std::string> corrections;

  RecordCounts kept;
  // Records that became a part of the header: ATTR, FEATURE, TRACING_DATA; and COMPRESSED ones are
  // not counted at all, but what was in them.
  RecordCounts moved;
  // Whole records of types that perf 6.1 does not know: it would read nothing of the file.
  RecordCounts left_out;
  std::map<perfdata::RecordType, StreamPosition>
      first_left_out;  // where the first of each type was
  // Of those kept, the ones whose header counted bytes behind the trailer, which are gone now
  // (formats/perfdata/kernel_size.h). Nothing is lost with them.
  std::uint64_t resized_records = 0;

  std::vector<Stretch> dropped;  // the first kMostStretches, in the order of the file
  std::uint64_t stretches = 0;   // all of them
  std::uint64_t dropped_bytes = 0;

  std::vector<FeatureOutcome> features;

  std::uint64_t records() const { return TotalOf(kept); }
  std::uint64_t samples() const { return CountOf(kept, perfdata::RecordType::kSample); }
  // Whether the new file holds all that the old one did, and none of it was guessed.
  bool is_whole() const;
};

}  // namespace perftape::rewrite
