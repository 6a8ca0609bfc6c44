// SPDX-License-Identifier: Apache-2.0
// pprof (profile.proto, gzip or not) -> Profile. All content is kept. Content for which Profile has
// a field goes into that field, as to_pprof.h writes it:
//
//   sample types      "X_sample" in "count" followed by "X_event" make one event X of samples and
//                     their periods; any other type makes an event of plain values
//   period_type       the period of the last sampled event, if that event has this name and unit
//   labels            one pid and one tid, numbers with a unit of the same name, make a thread,
//                     with a comm if there is one; all other labels stay labels
//   mappings          kernel mappings are recognized by name; equal mappings at several addresses
//                     are instances of one, lowest address first
//
// Samples of equal stack and labels are joined. So are locations that differ only in their ids.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Returns whether the beginning of the input looks like a profile.proto, plain or gzip.
bool IsPprof(const Input& input);

// Fails with kCorrupt, naming the table and the index, in these cases: gzip or protobuf is damaged
// or truncated; the profile is not valid (pprof's CheckValid); it expands to more than a file of
// its size can reasonably contain. `report.problems` lists what a Profile cannot hold: a sample
// type that occurs twice, or a mapping that ends before it starts.
Result<Profile> ReadPprof(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
