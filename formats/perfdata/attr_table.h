// SPDX-License-Identifier: Apache-2.0
// The attribute table of a file: for each event its perf_event_attr and the section with its ids
// (tools/perf/util/header.c, perf_session__read_header). perf refuses a table whose sizes are
// wrong; this reader recovers as many attributes as it can.
#pragma once

#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/header.h"

namespace perftape::perfdata {

// The events that the table tells of, without names; what was wrong with it goes to `problems`.
// None where it lies behind the end of the file.
std::vector<Event> ReadAttrTable(Bytes file, const FileHeader& header, std::endian order,
                                 std::vector<std::string>& problems);

// An attribute from bytes whose own size field may lie, or be 0: taken as large as `bytes` then,
// and told in `problems` behind `position`. Nothing where `bytes` are fewer than any attribute has.
std::optional<EventAttr> RecoverAttr(Bytes bytes, std::endian order, std::string_view position,
                                     std::vector<std::string>& problems);

}  // namespace perftape::perfdata
