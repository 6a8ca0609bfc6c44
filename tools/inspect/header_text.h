// SPDX-License-Identifier: Apache-2.0
// The header of a perf.data as text: its container, its events with their attributes, its features.
#pragma once

#include <string>
#include <string_view>

#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// Returns one line per fact, "name: value". A fact with several parts has them on indented lines.
std::string HeaderText(const perfdata::Reader& reader);

// Returns the line that says why a flight recorder wrote the file. Nothing if `trigger`
// (recording_notes.h) is empty.
std::string TriggerText(std::string_view trigger);

// Returns the first lines of it: container, data section, one line per event.
std::string HeaderSummary(const perfdata::Reader& reader);

}  // namespace perftape::inspect
