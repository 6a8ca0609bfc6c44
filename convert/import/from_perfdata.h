// SPDX-License-Identifier: Apache-2.0
// perf.data -> Profile. Equal samples are added up while they are read. A sample's comm and
// mappings are those of its time. Frames are addresses in mappings. convert/symbolize adds the
// names later, except those in the recording itself (KSYMBOL, jitdump).
//
// The terms of this import, in the order of its steps:
//
//   sort key        a record's time and its number in the file: its position in time order.
//                   RoundClock computes it from FINISHED_ROUND (round_clock.h).
//   process record  COMM, FORK, EXIT, MMAP, MMAP2, KSYMBOL or CGROUP: changes names or mappings
//   epoch           the number of process records before a time. Names and mappings do not change
//                   within an epoch (process_history.h).
//   range           a part of the file that one thread reads; first_pass.h lists where ranges start
//   thread cache    the states of the threads that were sampled last (sample_reader.cc)
//   event labels    the event of a sample and its optional labels, cpu and cgroup
//   row             all samples of equal stack, thread and event labels (sample_table.h)
//   prefix          the outermost frames of a stack, which other stacks share (stack_resolver.h)
#pragma once

#include <cstdint>
#include <vector>

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Reads a whole perf.data of any kind. `report` counts what could not be read. Fails only if
// nothing could be read. Damage in the middle ends reading: the profile contains everything before
// it, and report.problems contains the offset. The profile keeps no reference to `input`.
Result<Profile> ReadPerfData(Input& input, const ImportOptions& options, ImportReport& report);

// The samples of a recording, record by record, as a profile has them.
struct RecordedSamples {
  std::vector<Sample> distinct;  // with the ids of the profile
  // For each SAMPLE record, in file order, the index of its sample in `distinct`. kNone if the
  // record is not in the profile: outside the requested time, or not readable.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> of_records;
};

// The same, and also fills `samples`, for callers that process the records again. Periods that are
// computed from counters (PERF_SAMPLE_READ) follow file order here.
Result<Profile> ReadPerfDataByRecord(Input& input, const ImportOptions& options,
                                     ImportReport& report, RecordedSamples& samples);

}  // namespace perftape::convert
