// SPDX-License-Identifier: Apache-2.0
// Folded stacks -> Profile. The profile contains everything in the file: one event "samples" of
// plain values (two, "before" and "after", for a differential file), and each line's stack and
// count. Frames are functions without an address in a mapping "[folded]", so that viewers do not
// ask for a binary. Frames marked as kernel frames ("_[k]", which stays part of the name) are in a
// kernel mapping "[kernel]".
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Returns whether the input looks like folded stacks. It must be text. Its first line must end in a
// space and a count, or more than half of its first lines must, some of them with a ';'. So a file
// that has some lines without a count is accepted, and reading it reports their numbers. Rejected
// are empty input, input with NULs or other control characters (perf.data, gzip, pprof), and
// bpftrace's maps ("@[f, g]: 12").
bool IsFolded(const Input& input);

// Reads a whole file in UTF-8, any other bytes, or UTF-16 with a byte order mark. Counts may have
// fractions: the event has as many decimals as the file needs, or as fit in 64 bits. Fails with
// kCorrupt at the first line without a count; the message has its number, from 1. With
// options.lenient such lines are skipped and counted. Blank lines are ignored. If options.root is
// set, the first frames of that form become threads. A "?" or a missing id becomes kUnknownId. The
// profile keeps no reference to `input`.
Result<Profile> ReadFolded(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
