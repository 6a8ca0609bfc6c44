// SPDX-License-Identifier: Apache-2.0
// A record as one line of JSON.
#pragma once

#include <string>

#include "formats/perfdata/event_table.h"
#include "formats/perfdata/record.h"

namespace perftape::inspect {

// Returns one line with its end:
//
//   {"record":{"offset":"0x1a8","type":"COMM","misc":0,"size":40,"pid":7,"tid":7,"comm":"sh",
//    "sample_id":{"pid":7,"tid":7,"time":64571619301,"cpu":1}}}
//
// Addresses and bit masks are strings in hex, because JSON readers may keep only 53 bits of a
// number. Bytes are one string of hex digits. A record whose fields could not be decoded has a
// "remark".
std::string RecordJson(const perfdata::RecordView& record, const perfdata::EventTable& events);

}  // namespace perftape::inspect
