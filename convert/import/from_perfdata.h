// SPDX-License-Identifier: Apache-2.0
// perf.data -> Profile. Samples are aggregated while they are read, in time order, so that a
// sample's comm and mappings are those of its time. Frames are addresses in mappings; names come
// later (convert/symbolize), except those that the recording itself gives (KSYMBOL).
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
  // Of each SAMPLE record, in the file's order, the place of its sample in `distinct`; kNone of one
  // that is not in the profile: outside the time asked for, or not readable.
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> of_records;
};

// The same, for who treats records by what their samples are. The periods of counters that are read
// with the samples (PERF_SAMPLE_READ) are those of the file's order.
Result<Profile> ReadPerfDataByRecord(Input& input, const ImportOptions& options,
                                     ImportReport& report, RecordedSamples& samples);

}  // namespace perftape::convert
