// SPDX-License-Identifier: Apache-2.0
// The header of a perf.data as text: its container, its events with their attributes, its features.
#pragma once

#include <string>
#include <string_view>

#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// Returns one line per fact, "name: value". A fact with several parts has them on indented lines.
std::string HeaderText(const perfdata::Reader& reader);

// Returns the most important lines of it: container, data section, events, the machine, the
// command, the bundle and the trigger.
std::string HeaderSummary(const perfdata::Reader& reader);

// Returns the line that says why a flight recorder wrote the file. Nothing if `trigger`
// (recording_notes.h) is empty.
std::string TriggerText(std::string_view trigger);

}  // namespace perftape::inspect
