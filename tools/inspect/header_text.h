// SPDX-License-Identifier: Apache-2.0
// What a perf.data says of itself: its kind, its events with their attributes, its features.
#pragma once

#include <string>

#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// A line for each fact, "name: value"; parts of a fact that has several on indented lines.
std::string HeaderText(const perfdata::Reader& reader);

// The first lines of it: kind, data section, one line an event.
std::string HeaderSummary(const perfdata::Reader& reader);

}  // namespace perftape::inspect
