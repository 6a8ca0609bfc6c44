// SPDX-License-Identifier: Apache-2.0
// Visits the fields of a record, one by one, with the names of perf_event.h.
#pragma once

#include "formats/base/bytes.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/field_visitor.h"
#include "formats/perfdata/record.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::perfdata {

// Visits the fields of a tracepoint's RAW, in a group "fields": those that only this tracepoint
// has, and that are completely in `raw`. Visits nothing if there are none.
void VisitTracepointFields(const TracepointFormat& format, Bytes raw, FieldVisitor& to);

// Visits all fields of a record. Some records are passed as bytes with a remark: those that end
// inside their fields, that belong to no event, or whose type has no known fields.
void VisitFields(const RecordView& record, const EventTable& events, FieldVisitor& to);

}  // namespace perftape::perfdata
