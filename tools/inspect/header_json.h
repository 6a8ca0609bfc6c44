// SPDX-License-Identifier: Apache-2.0
// The header of a perf.data as JSON, with the content of header_text.h.
#pragma once

#include <string>

#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// Returns one line with its end:
//
//   {"header":{"format":"file","byte_order":"little","data":{"offset":"0xf0","size":688},
//    "events":[{"name":"cpu-clock","ids":[101],"attr":{"type":1,"size":112,…}}],
//    "features":{"HOSTNAME":"builder","NRCPUS":{"nr_cpus_online":2,"nr_cpus_avail":2},…},
//    "problems":[]}}
//
// An attribute has the field names of perf_event_attr, for fields that are not 0. A feature has the
// names of perf's struct perf_env and header.c. Offsets, addresses and bit masks are strings in
// hex. Bits with names are lists of them. Bytes that are not UTF-8 become U+FFFD.
std::string HeaderJson(const perfdata::Reader& reader);

}  // namespace perftape::inspect
