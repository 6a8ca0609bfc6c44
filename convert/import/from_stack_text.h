// SPDX-License-Identifier: Apache-2.0
// The texts of bpftrace, bcc, DTrace and macOS's sample -> Profile. formats/stack_text reads them.
//
//   events   "samples", and for each map of bpftrace with a name one of that name. Plain values.
//   threads  have the comm that the text gives, and its pid. Other parts of a map's key are labels
//            "key1", "key2".
//   frames   have the names of the text, without offsets. Frames of the kernel are in a mapping of
//            their own where the text shows them.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

bool IsBpftraceText(const Input& input);
bool IsBccText(const Input& input);
bool IsDtraceText(const Input& input);
bool IsSampleText(const Input& input);

// Fail if the text has no stack, or if reading a stream fails. Lines of no entry are skipped, and
// counted in report.problems.
Result<Profile> ReadBpftraceText(Input& input, const ImportOptions& options, ImportReport& report);
Result<Profile> ReadStackListText(Input& input, const ImportOptions& options, ImportReport& report);
Result<Profile> ReadSampleText(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
