// SPDX-License-Identifier: Apache-2.0
// Profile -> pprof (profile.proto, gzip). Equal profiles become equal files.
//
// Each event of samples becomes two sample types, as perf_data_converter names them:
// "cpu-clock_sample" in "count" and "cpu-clock_event" in the event's unit; an event of plain values
// becomes one type of its name. Samples of one stack, thread and set of labels are one sample,
// labelled pid and tid (numbers, with a unit of the same name: Go drops a 0 that has none), comm,
// and what else they have. Only what samples lead to is written. The first mapping is the main
// program: the one below most samples that is neither kernel nor library.
//
// from_pprof.h reads it back to the same profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/pprof/gzip.h"

namespace perftape::convert {

enum class PprofCompression : std::uint8_t { kGzip, kNone };

struct PprofOptions {
  // pid, tid and comm; without them, and without labels of these names, samples of all threads are
  // joined.
  bool thread_labels = true;
  PprofCompression compression = PprofCompression::kGzip;
  int level = pprof::kDefaultGzipLevel;  // of gzip, from 1, the fastest, to 12, the smallest
};

// The events whose values cannot be written exactly: decimals, which pprof has not. They are
// rounded to whole numbers, halves away from 0.
std::vector<EventId> LossyEvents(const Profile& profile);

// The whole file in memory. kIo where memory runs out.
Result<std::vector<std::byte>> EncodePprof(const Profile& profile, const PprofOptions& options);

// The same into a file; fails also as the output does.
Status WritePprof(const Profile& profile, const PprofOptions& options, OutputFile& out);

}  // namespace perftape::convert
