// SPDX-License-Identifier: Apache-2.0
// A whole recording in one function.
#pragma once

#include <stop_token>

#include "formats/base/result.h"
#include "record/recorder_options.h"
#include "record/summary.h"

namespace perftape::record {

// Records until the command ends, the duration has passed, the targets have ended or `stop` is
// requested, whichever comes first. Then finishes the file. Two threads must not record at once.
//
// Returns the errors of BpfSession::Load (a kPermission error says what is missing and how to get
// it), OpenOnCpus, OpenForThread and perfdata::Writer. After an error, an earlier file with the
// name of the recording is unchanged. Errors during the recording (disk full) are reported in the
// summary, and so is a bundle that cannot be written: the recording is complete without it.
Result<RecordSummary> Record(const RecordOptions& options, std::stop_token stop);

}  // namespace perftape::record
