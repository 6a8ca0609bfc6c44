// SPDX-License-Identifier: Apache-2.0
// A whole recording in one function.
#pragma once

#include <stop_token>

#include "formats/base/result.h"
#include "record/options.h"
#include "record/summary.h"

namespace perftape::record {

// Records until the command ends, the duration has passed, the targets have ended or `stop` is
// requested, whichever comes first. Then finishes the file. Two threads must not record at once.
//
// Returns the errors of BpfSession::Load (kPermission names what is missing and how to get it), of
// OpenOnCpus, OpenForThread and perfdata::Writer. After an error, an earlier file with the name of
// the recording is unchanged. An error while recording (disk full) is in the summary. So is a
// bundle that cannot be written: the recording is complete without it.
Result<RecordSummary> Record(const RecordOptions& options, std::stop_token stop);

}  // namespace perftape::record
