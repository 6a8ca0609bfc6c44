// SPDX-License-Identifier: Apache-2.0
// A record on one line, all of its fields by name: for looking into a file, and for golden texts
// that make every change of meaning visible.
//
//   0x1a8 MMAP2 misc 0x2 size 112: pid 186 tid 186 start 0x401000 … | time 64571619301 cpu 1
#pragma once

#include <string>

#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// Without a line end. Names are escaped for a terminal. A record that ends inside its fields says
// so on its line; one of a type without known fields shows its bytes.
std::string RecordText(const perfdata::RecordView& record, const perfdata::EventTable& events);

}  // namespace perftape::inspect
