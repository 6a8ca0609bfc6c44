// SPDX-License-Identifier: Apache-2.0
// The profiles of other programs -> Profile. Each format has a file of its own: from_stack_text.cc,
// from_speedscope.cc, from_cpuprofile.cc, from_firefox.cc, from_heap_v2.cc.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// The texts of bpftrace, bcc, DTrace and macOS's sample -> Profile. formats/stack_text reads them.
//
//   events   "samples", and for each map of bpftrace with a name one of that name. Plain values.
//   threads  have the comm that the text gives, and its pid. Other parts of a map's key are labels
//            "key1", "key2".
// frames   have the names of the text, without offsets. Frames of the kernel are in a separate
// mapping if the text shows which they are.
bool IsBpftraceText(const Input& input);
bool IsBccText(const Input& input);
bool IsDtraceText(const Input& input);
bool IsSampleText(const Input& input);

// Fail if the text has no stack, or if reading a stream fails. Lines that belong to no entry are
// skipped, and counted in report.problems.
Result<Profile> ReadBpftraceText(Input& input, const ImportOptions& options, ImportReport& report);
Result<Profile> ReadStackListText(Input& input, const ImportOptions& options, ImportReport& report);
Result<Profile> ReadSampleText(Input& input, const ImportOptions& options, ImportReport& report);

// The files of speedscope -> Profile.
//
//   events     of plain values, "samples" for counts, "time" in nanoseconds, "space" in bytes.
//              Files of perftape have the event's name in each profile.
//   threads    of several profiles: the comm is the profile's name
//   evented    profiles count the time in which a stack is the current one
//   decimals   up to 6, if any weight without a unit has them
bool IsSpeedscopeFile(const Input& input);

// Fails if the text is not JSON, or if reading a stream fails. Samples with a frame that is not in
// the file are skipped and counted.
Result<Profile> ReadSpeedscope(Input& input, const ImportOptions& options, ImportReport& report);

// The .cpuprofile files of V8 -> Profile, in all forms of formats/json_profiles/cpuprofile.h. The
// event "cpu" counts the samples; their period is the time until the next one, in nanoseconds. The
// nodes (program), (idle) and (garbage collector) are functions; (root) is left out. A .heapprofile
// has the event "alloc_space".
bool IsCpuProfileFile(const Input& input);

// Fails if the text is not JSON, or if reading a stream fails. Samples of unknown nodes are skipped
// and counted.
Result<Profile> ReadCpuProfile(Input& input, const ImportOptions& options, ImportReport& report);

// The samples in traces of Chrome, and of Hermes -> Profile, as those of a .cpuprofile, with
// threads.
bool IsChromeTraceFile(const Input& input);

// Fails also if the trace has no samples.
Result<Profile> ReadChromeTrace(Input& input, const ImportOptions& options, ImportReport& report);

// The profiles of the Firefox Profiler -> Profile: those of samply, perftape and Firefox.
//
//   events     "samples", "cpu-time" or "allocations", by the type of the weights. In files of
//              perftape, the name of a thread contains the name of the event.
//   threads    have the name, pid and tid of the file
//   frames     have the names of the file. Those of a library have its file and build id, and the
//              address, if the file says what it is relative to.
//   times      labels "timestamp_ns", since the start of the recording
bool IsFirefoxFile(const Input& input);

// Fails if the text is not JSON, or if reading a stream fails. Samples of unknown stacks are
// skipped and counted.
Result<Profile> ReadFirefox(Input& input, const ImportOptions& options, ImportReport& report);

// The heap profiles of jemalloc -> Profile. The events are those of pprof's heap profiles:
// inuse_objects, inuse_space, and if the file has them alloc_objects and alloc_space, scaled from
// the samples to all allocations. Frames are offsets in the mapped files, for perftape-symbolize.
bool IsJemallocHeap(const Input& input);

// Fails if the first line is not jemalloc's, or if reading a stream fails. Lines that are not
// understood are skipped, and counted in report.problems.
Result<Profile> ReadJemallocHeap(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
