// SPDX-License-Identifier: Apache-2.0
// OTLP profiles (opentelemetry-proto 1.10 and 1.11, ProfilesData; protobuf or JSON) -> Profile.
// What to_otlp.h writes becomes the same profile again. Files of other programs:
//
//   profiles      samples/count with another type of period make a sampled event of that type:
//                 each sample has the period of the profile, or the sum in the profile whose
//                 values have the period's type. off_cpu/nanoseconds makes perf's offcpu-time.
//                 Any other profile makes an event of plain values.
//   attributes    of resources, profiles and samples become labels; process.pid, thread.id and
//                 thread.name the thread. An array is several labels, other values are texts.
//   times, links  labels timestamp_ns, trace_id and span_id
//   frames        profile.frame.type "kernel" makes the mapping one of the kernel
//
// Samples of equal stack and labels are joined. The messages of a file of the collector's file
// exporter (formats/otlp/message_files.h) are merged; a last one without its end is a problem.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Returns whether the beginning of the input looks like ProfilesData, as protobuf or JSON.
bool IsOtlp(const Input& input);

// Fails with kCorrupt, naming the table and the index, if the protobuf or JSON is damaged, an index
// is not in its table, entry 0 of the string table is not empty, a sample has no value, or the file
// has more labels than a file of its size can contain. `report.problems` and `report.notes` list
// what a Profile cannot hold.
Result<Profile> ReadOtlp(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
