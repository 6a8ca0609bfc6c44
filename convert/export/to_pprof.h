// SPDX-License-Identifier: Apache-2.0
// Profile -> pprof (profile.proto, gzip). Equal profiles become equal files.
//
// A sampled event becomes two sample types, with the names that perf_data_converter uses:
// "cpu-clock_sample" in "count" and "cpu-clock_event" in the event's unit. An event of plain values
// becomes one type with its name. Samples of equal stack, thread and labels are one sample. It has
// the labels pid and tid (numbers, with a unit of the same name, because Go drops a 0 without a
// unit), comm, and its other labels. Only entries that samples refer to are written. The first
// mapping is the main program: the one below most samples that is neither kernel nor library.
//
// from_pprof.h reads the file back to the same profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"
#include "formats/pprof/gzip.h"

namespace perftape::convert {

// The names of sample types. Go's compiler (go build -pgo) takes a profile only if it has a sample
// type samples/count or cpu/nanoseconds (cmd/compile, internal/pgo).
enum class PprofTypes : std::uint8_t {
  kPerf,  // those of perf_data_converter
  // Of DefaultEvent: samples/count, and its periods as cpu if they are time on a CPU, else by its
  // name; viewers show these by default. Others as kPerf.
  kGo,
};

enum class PprofCompression : std::uint8_t { kGzip, kNone };

struct PprofOptions {
  // Write the labels of threads: pid, tid and comm, woken and woken_tid. If false, these labels are
  // left out, and the samples of all threads are joined.
  bool thread_labels = true;
  PprofTypes types = PprofTypes::kPerf;
  PprofCompression compression = PprofCompression::kGzip;
  // Write the offsets in symbols, in a field that profile.proto does not have.
  bool symbol_offsets = false;
  int level = pprof::kDefaultGzipLevel;  // of gzip, from 1 (fastest) to 12 (smallest)
};

// Returns the events whose values cannot be written exactly: those with decimals, which pprof does
// not have. They are rounded to whole numbers, halves away from 0.
std::vector<EventId> LossyEvents(const Profile& profile);

// Returns the whole file in memory. Fails with kIo if memory runs out.
Result<std::vector<std::byte>> EncodePprof(const Profile& profile, const PprofOptions& options);

// Writes the same to a file. Also fails as the output does.
Status WritePprof(const Profile& profile, const PprofOptions& options, OutputFile& out);

}  // namespace perftape::convert
