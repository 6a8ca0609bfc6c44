// SPDX-License-Identifier: Apache-2.0
// perf.data -> Profile. Equal samples are added up while they are read. A sample's comm and
// mappings are those of its time. Frames are addresses in mappings; convert/symbolize adds the
// names later, except those that the recording itself has (KSYMBOL, jitdump).
//
// The words of this import, in the order of its steps:
//
//   sort key        a record's time and its number in the file: its position in time order.
//                   RoundClock computes it from FINISHED_ROUND (round_clock.h).
//   process record  COMM, FORK, EXIT, MMAP, MMAP2, KSYMBOL or CGROUP: changes names or mappings
//   epoch           the number of process records before a time. Names and mappings do not change
//                   within an epoch (process_history.h).
//   range           a part of the file that one thread reads; survey.h lists where ranges start
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

// Reads a whole perf.data of any kind. What could not be read is counted in `report`; an Error
// means that nothing could be. Damage in the middle ends the reading there: what came before is in
// the profile, and report.problems says where it ended. Nothing refers to `input` afterwards.
Result<Profile> ReadPerfData(Input& input, const ImportOptions& options, ImportReport& report);

// The samples of a recording, record by record, as a profile has them.
struct RecordedSamples {
  std::vector<Sample> distinct;  // in the profile's ids
  // Of each SAMPLE record, in file order, the index of its sample in `distinct`; kNone of one
  // that is not in the profile: outside the time asked for, or not readable.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> of_records;
};

// The same, for who treats records by what their samples are. The periods of counters that are read
// with the samples (PERF_SAMPLE_READ) are those of the file's order.
Result<Profile> ReadPerfDataByRecord(Input& input, const ImportOptions& options,
                                     ImportReport& report, RecordedSamples& samples);

}  // namespace perftape::convert
