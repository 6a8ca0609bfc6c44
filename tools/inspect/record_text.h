// SPDX-License-Identifier: Apache-2.0
// A record on one line, with all fields by name. For inspecting files, and for golden texts that
// show every change of meaning.
//
//   0x1a8 MMAP2 misc 0x2 size 112: pid 186 tid 186 start 0x401000 … | time 64571619301 cpu 1
#pragma once

#include <string>

#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// Returns the line without a line end. Names are escaped for a terminal. A record that ends inside
// its fields has a remark. A record of a type without known fields is shown as bytes.
std::string RecordText(const perfdata::RecordView& record, const perfdata::EventTable& events);

}  // namespace perftape::inspect
