// SPDX-License-Identifier: Apache-2.0
// Where user call chains that were found by unwind tables ended, in words.
#pragma once

#include <linux/types.h>

#include "bpf/unwind_wire.h"

namespace perftape::record {

struct ChainEnd {
  wire_unwind_end end;
  const char* text;  // in the summary
  const char* key;   // in JSON
};

// All ends of chains that are not complete. WIRE_END_OF_STACK is bundle::kCompleteChain.
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

}  // namespace perftape::record
