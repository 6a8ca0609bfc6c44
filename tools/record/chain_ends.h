// SPDX-License-Identifier: Apache-2.0
// Where user call chains that were found by unwind tables ended, in words.
#pragma once

#include <string>

#include "record/recorder.h"

namespace perftape::record_tool {

struct ChainEnd {
  wire_unwind_end end;
  const char* text;  // in the summary
  const char* key;   // in JSON
};

// All ends of chains that are not complete.
inline constexpr ChainEnd kIncompleteEnds[] = {
    {WIRE_END_NO_PROCESS, "of a process that had just started", "no_process"},
    {WIRE_END_NO_MAPPING, "no mapping", "no_mapping"},
    {WIRE_END_NO_TABLE, "no table", "no_table"},
    {WIRE_END_NO_ROW, "no row", "no_row"},
    {WIRE_END_UNREADABLE, "stack not readable", "unreadable"},
    {WIRE_END_NO_PROGRESS, "no progress", "no_progress"},
    {WIRE_END_TOO_DEEP, "too deep", "too_deep"},
    {WIRE_END_COMPAT, "32-bit", "32_bit"},
};

// Returns "user call chains: 99.8 % complete; incomplete: 12 no table, 3 no row", of all events.
// Empty if unwind tables were not used.
std::string ChainText(const record::RecordSummary& summary);

}  // namespace perftape::record_tool
