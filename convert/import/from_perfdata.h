// SPDX-License-Identifier: Apache-2.0
// perf.data -> Profile. Samples are aggregated while they are read, in time order, so that a
// sample's comm and mappings are those of its time. Frames are addresses in mappings; names come
// later (convert/symbolize), except those that the recording itself gives (KSYMBOL).
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape {

// Reads a whole perf.data of any kind. What could not be read is counted in `report`; an Error
// means that nothing could be. Damage in the middle ends the reading there: what came before is in
// the profile, and report.problems says where it ended. Nothing refers to `input` afterwards.
Result<Profile> ReadPerfData(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape
