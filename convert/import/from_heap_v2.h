// SPDX-License-Identifier: Apache-2.0
// The heap profiles of jemalloc -> Profile. The events are those of pprof's heap profiles:
// inuse_objects, inuse_space, and if the file has them alloc_objects and alloc_space, in the
// numbers that the samples stand for. Frames are offsets in the mapped files, for
// perftape-symbolize.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

bool IsJemallocHeap(const Input& input);

// Fails if the first line is no jemalloc's, or if reading a stream fails. Lines that are not
// understood are skipped, and counted in report.problems.
Result<Profile> ReadJemallocHeap(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
