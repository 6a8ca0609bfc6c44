// SPDX-License-Identifier: Apache-2.0
// The records of a perf.data that say what happened to threads, as TaskEvents.
#pragma once

#include <cstdint>

#include "convert/model/task_event.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::convert {

// Appends what a record says. Records of other types, and those of the initial state, which has the
// time 0, add nothing.
void NoteTaskEvent(const perfdata::RecordView& record, const perfdata::SampleFormat& format,
                   std::uint64_t time, TaskEvents& events);

}  // namespace perftape::convert
