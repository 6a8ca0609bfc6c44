// SPDX-License-Identifier: Apache-2.0
// Folded stacks -> Profile. All that a file says is in it: one event "samples" of plain values (or
// two, "before" and "after", of a differential file), each line's stack and count. Frames are
// functions without address in a mapping "[folded]", so that a viewer asks for no binary; those
// marked as the kernel's ("_[k]", which stays a part of the name) are in one of the kernel's,
// "[kernel]".
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Whether the input looks like folded stacks: text whose first line ends in a space and a count, or
// more than half of the first lines, some with a ';'. So a file with lines that have no count is
// one, and they are told by their number. Never an empty input, one with NULs or other control
// characters (perf.data, gzip, pprof), or bpftrace's maps ("@[f, g]: 12").
bool IsFolded(const Input& input);

// Reads a whole file, in UTF-8, any bytes, or UTF-16 with a byte order mark. Counts may have
// fractions: the event has as many decimals as the file, or as 64 bits hold of it. kCorrupt at the
// first line without a count, with its number, from 1; with options.lenient such lines are skipped
// and counted. Blank lines say nothing and are passed over. Where options.root names a form, the
// first frames of that form become threads, with kUnknownId for a "?" or what is not there.
// Nothing refers to `input` afterwards.
Result<Profile> ReadFolded(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
