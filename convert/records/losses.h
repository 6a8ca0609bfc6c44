// SPDX-License-Identifier: Apache-2.0
// What is missing in a recording, and when: by CPU, event and cause as its recorder noted it
// (recording_notes.h), or according to its LOST, LOST_SAMPLES and THROTTLE records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "formats/bundle/recording_notes.h"
#include "formats/perfdata/reader.h"

namespace perftape::records {

// A LOST, LOST_SAMPLES, THROTTLE or UNTHROTTLE.
struct LossRecord {
  perfdata::RecordType type = {};
  std::uint64_t time_ns = 0;
  int cpu = -1;             // -1: unknown
  std::string event = {};   // empty: unknown
  std::uint64_t count = 0;  // of samples, or of records for a LOST

  bool operator==(const LossRecord&) const = default;
};

struct Losses {
  bool has_notes = false;
  bundle::RecordingNotes notes;          // without has_notes, as far as the records contain them
  std::vector<LossRecord> records = {};  // in time order
  std::optional<Error> damage = {};      // why reading stopped before the end of the file

  std::uint64_t noted_samples() const;     // the sum of notes.lost
  std::uint64_t recorded_samples() const;  // the sum of LOST_SAMPLES
};

// Fails if the notes are damaged.
Result<Losses> FindLosses(const perfdata::Reader& reader);

}  // namespace perftape::records
