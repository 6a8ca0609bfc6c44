// SPDX-License-Identifier: Apache-2.0
// pprof (profile.proto, gzip or not) -> Profile. All that it says is kept; what Profile has a field
// of its own for goes there, as to_pprof.h writes it:
//
//   sample types      "X_sample" in "count" and behind it "X_event" make one event X of samples and
//                     their periods; each other type makes an event of plain values
//   period_type       the last event's period, where it is of that event and that is sampled
//   labels            one pid and one tid, numbers with a unit of the same name, make a thread,
//   with
//                     a comm if there is one; every other label stays one
//   mappings          the kernel's are told by their names; equal ones at several addresses are
//                     instances of one, lowest address first
//
// Samples of equal stack and labels become one. Locations that are equal but for their ids do, too.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// True for a profile.proto as it is, or in gzip, as far as its beginning tells.
bool IsPprof(const Input& input);

// kCorrupt, naming the table and the index, where gzip or protobuf are damaged or cut, the profile
// is not valid (pprof's CheckValid), or it expands to more than a file of its size can mean. What
// no Profile holds (a sample type that is there twice, a mapping that ends before it starts) is
// told in `report.problems`.
Result<Profile> ReadPprof(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
