// SPDX-License-Identifier: Apache-2.0
// The first pass over a recording: all that must be known before its samples are read. It looks at
// each record's header, id and time, and takes in what is no sample; of most recordings that is
// half a percent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "convert/import/converted.h"
#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/import/process_history.h"
#include "convert/import/stack_resolver.h"
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
};

struct Survey {
  ProcessHistory history;
  BuildIdsByPath build_ids;
  TimeSpan times;   // of the samples
  UnitsById units;  // of events that were converted
};

// Counts in `report` all that is no sample. The reader must outlive the survey.
Survey MakeSurvey(const perfdata::Reader& reader, ImportReport& report);

}  // namespace perftape
