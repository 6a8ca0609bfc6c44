// SPDX-License-Identifier: Apache-2.0
// The first pass over a recording: all that must be known before its samples are read. It looks at
// each record's header, id and time, and takes in what is no sample; of most recordings that is
// half a percent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "convert/import/converted.h"
#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/import/jit_code.h"
#include "convert/import/process_history.h"
#include "convert/import/stack_resolver.h"
#include "convert/import/turn_clock.h"
#include "formats/perfdata/reader.h"

namespace perftape::convert {

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

// Where reading the samples of a recording can begin.
struct Cut {
  std::uint64_t file_offset = 0;  // of the first record behind it
  TurnClock clock;                // as it is before that
};

struct Survey {
  ProcessHistory history;
  ListedBuildIds build_ids;
  TimeSpan times;   // of the samples
  UnitsById units;  // of events that were converted
  JitCode jit;      // what just-in-time compilers said of theirs
  // Ranges that can be read at once, the first one from the first record on; just that of a short
  // recording, and of one that does not lie uncompressed in one file.
  std::vector<Cut> cuts = {};
};

// Counts in `report` all that is no sample. The reader must outlive the survey. What it says does
// not depend on options.threads, but for the number of cuts.
Survey MakeSurvey(const perfdata::Reader& reader, const ImportOptions& options,
                  ImportReport& report);
// The same by several threads. Nothing, and `report` is as it was, where all records have to be
// seen in their order: of a short recording, of one that is no uncompressed file, has damage, or
// records that came later than their round promised.
std::optional<Survey> MakeSurveyInRanges(const perfdata::Reader& reader,
                                         const ImportOptions& options, ImportReport& report);

// Whether samples must be read in the order of their times: counters that are read with them grow
// from one reading to the next.
bool NeedTimeOrder(const perfdata::EventTable& events);

}  // namespace perftape::convert
