// SPDX-License-Identifier: Apache-2.0
// Profile -> pprof (profile.proto, gzip). Equal profiles become equal files.
//
// Each event that has samples becomes two sample types, as perf_data_converter names them:
// "cpu-clock_sample" in "count" and "cpu-clock_event" in the event's unit. Samples of one stack and
// thread are one sample, labelled pid and tid (numbers, with a unit of the same name: Go drops a 0
// that has none) and comm. Only what samples lead to is written. The first mapping is the main
// program: the one below most samples that is neither kernel nor library.
//
// Names are written so that pprof shows them whole: a system_name only where it differs.
#pragma once

#include <cstddef>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape {

struct PprofOptions {
  bool thread_labels = true;  // pid, tid and comm; without them samples of all threads are joined
};

// The whole file in memory. kIo where memory runs out. Sums above 2^63 - 1 are written as that.
Result<std::vector<std::byte>> EncodePprof(const Profile& profile, const PprofOptions& options);

// The same into a file; fails also as the output does.
Status WritePprof(const Profile& profile, const PprofOptions& options, OutputFile& out);

}  // namespace perftape
