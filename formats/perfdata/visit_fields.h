// SPDX-License-Identifier: Apache-2.0
// Visits the fields of a record or of a feature section, one by one, with the names of
// perf_event.h, and of perf's struct perf_env and header.c.
#pragma once

#include <bit>

#include "formats/base/bytes.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/features.h"
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

// Visits all fields of a feature. `order` is the byte order of the file. A feature that is a text
// or a list is visited as one unnamed field. So is an item of a list that has no fields.
void VisitFeatureFields(const FeatureValue& value, std::endian order, FieldVisitor& to);

}  // namespace perftape::perfdata
