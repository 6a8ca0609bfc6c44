// SPDX-License-Identifier: Apache-2.0
// What a perf.data says of itself as JSON: the facts of header_text.h, for programs.
#pragma once

#include <string>

#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// One line with its end:
//
//   {"header":{"format":"file","byte_order":"little","data":{"offset":"0xf0","size":688},
//    "events":[{"name":"cpu-clock","ids":[101],"attr":{"type":1,"size":112,…}}],
//    "features":{"HOSTNAME":"builder","NRCPUS":{"nr_cpus_online":2,"nr_cpus_avail":2},…},
//    "problems":[]}}
//
// An attribute has the names of perf_event_attr, and of them those that are not 0; a feature those
// of perf's struct perf_env and header.c. Offsets, addresses and words of bits are strings in hex;
// bits with names, lists of them. What is no UTF-8 is replaced by U+FFFD.
std::string HeaderJson(const perfdata::Reader& reader);

}  // namespace perftape::inspect
