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

// The events of the table, without names. Adds the damage that it finds to `problems`. Returns no
// events if the table is beyond the end of the file.
std::vector<Event> ReadAttrTable(Bytes file, const FileHeader& header, std::endian order,
                                 std::vector<std::string>& problems);

// An attribute whose size field may be wrong or 0. In that case the attribute is read as large as
// `bytes`, and a message with the prefix `position` is added to `problems`. Nothing if `bytes` are
// fewer than the smallest attribute has.
std::optional<EventAttr> RecoverAttr(Bytes bytes, std::endian order, std::string_view position,
                                     std::vector<std::string>& problems);

}  // namespace perftape::perfdata
