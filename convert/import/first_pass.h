// SPDX-License-Identifier: Apache-2.0
// The first pass over a recording. It collects what must be known before samples can be read:
// process records, build ids, losses and jitdumps. Of a sample it reads only header, id and time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "convert/import/converted.h"
#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/import/jit_code.h"
#include "convert/import/noted_services.h"
#include "convert/import/process_history.h"
#include "convert/import/round_clock.h"
#include "convert/import/stack_resolver.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/sample_completion.h"

namespace perftape::convert {

// The first and the last of a set of times; empty if there are none.
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

// A record at which a thread can start to read samples.
struct RangeStart {
  std::uint64_t file_offset = 0;  // of the record
  RoundClock clock;               // the state after all records before it
};

// What the first pass has collected.
struct FirstPass {
  ProcessHistory history;
  ListedBuildIds build_ids;
  TimeSpan times;  // of the samples
  std::uint64_t samples = 0;
  std::uint64_t time_step_ns = 0;  // of the times of labels at first; 0: they are exact
  UnitsById units;                 // of events in a converted file
  JitCode jit;                     // code of just-in-time compilers
  NotedServices services = {};     // with ImportOptions::service_labels
  // If samples have to be completed, else null. Then there is one range.
  std::unique_ptr<const perfdata::SampleCompletion> completion = nullptr;
  // Each range ends where the next one starts; the first starts at the first record. Several
  // threads can read the ranges at once. A short or compressed recording has one range.
  std::vector<RangeStart> range_starts = {};

  // SampleCompletion::TimeOf.
  std::uint64_t TimeOf(std::uint64_t recorded_time) const {
    return completion == nullptr ? recorded_time : completion->TimeOf(recorded_time);
  }
};

// Counts all records that are not samples in `report`. The reader must outlive the result. Only the
// number of ranges depends on options.threads.
FirstPass RunFirstPass(const perfdata::Reader& reader, const ImportOptions& options,
                       ImportReport& report);
// The same on several threads. Returns nothing, and does not change `report`, if one thread must
// see all records in order. This is necessary for a short, compressed or damaged recording, for a
// pipe, if samples must be completed, and if records are older than their round allows.
std::optional<FirstPass> RunFirstPassInRanges(const perfdata::Reader& reader,
                                              const ImportOptions& options, ImportReport& report);

// Returns whether samples must be read in time order. This is necessary with PERF_SAMPLE_READ,
// because a sample's period is the difference from the counter of the previous sample.
bool NeedTimeOrder(const perfdata::EventTable& events);

}  // namespace perftape::convert
