// SPDX-License-Identifier: Apache-2.0
// The first pass over a recording: all that must be known before its samples are read. It looks at
// each record's header, id and time, and takes in what is no sample; of most recordings that is
// half a percent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "convert/import/converted.h"
#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/import/jit_code.h"
#include "convert/import/process_history.h"
#include "convert/import/stack_resolver.h"
#include "convert/import/turn_clock.h"
#include "formats/perfdata/reader.h"

namespace perftape {

// From the first of some times to the last.
struct TimeSpan {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;

  bool is_empty() const { return first > last; }
  void Add(std::uint64_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
  void Add(const TimeSpan& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

// Where a recording can be cut in two, to read its samples in either half at once.
struct Cut {
  std::uint64_t file_offset = 0;  // of the first record behind it
  TurnClock clock;                // as it is before that
};

struct Survey {
  ProcessHistory history;
  BuildIdsByPath build_ids;
  TimeSpan times;                  // of the samples
  UnitsById units;                 // of events that were converted
  JitCode jit;                     // what just-in-time compilers said of theirs
  std::optional<Cut> middle = {};  // of a long recording that lies in one file, uncompressed
};

// Counts in `report` all that is no sample. The reader must outlive the survey.
Survey MakeSurvey(const perfdata::Reader& reader, const ImportOptions& options,
                  ImportReport& report);

}  // namespace perftape
