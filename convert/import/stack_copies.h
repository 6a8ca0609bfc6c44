// SPDX-License-Identifier: Apache-2.0
// Unwinds the samples of a recording whose registers and stacks were copied (convert/unwind), using
// the processes and build ids that the first pass found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convert/import/first_pass.h"
#include "convert/import/import_options.h"
#include "convert/unwind/binary_tables.h"
#include "convert/unwind/packed_locations.h"
#include "convert/unwind/sample_unwinder.h"
#include "formats/perfdata/reader.h"
#include "formats/unwind/rule.h"

namespace perftape::convert {

// Returns whether stacks of this recording are unwound: an event has copies, and the options
// have a finder.
bool UnwindsStacks(const perfdata::Reader& reader, const ImportOptions& options);

// Returns the processor of a recording. Nothing for one that cannot be unwound.
std::optional<unwind::Machine> RecordedMachine(const perfdata::Reader& reader);

// Returns an unwinder for one thread. All references must outlive it. The first pass's history must
// have kept its regions. `locations` is null if no packed
// locations are needed.
offline_unwind::SampleUnwinder MakeUnwinder(const perfdata::Reader& reader,
                                            const ImportOptions& options,
                                            const FirstPass& first_pass,
                                            offline_unwind::BinaryTables& tables,
                                            offline_unwind::PackedLocations* locations);

}  // namespace perftape::convert
