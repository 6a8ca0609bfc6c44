// SPDX-License-Identifier: Apache-2.0
// The maps that bpftrace prints, as stackcollapse-bpftrace.pl reads them:
//
//   @stacks[nginx, 1234,
//       tcp_sendmsg+60
//       sock_sendmsg+54
//   ,
//       main+12
//   ]: 7
//
// The parts of a key are separated by commas, in the order of the script. Stacks have lines of
// their own. A stack of mode perf has addresses and files: "ffffffff8101 f+1 (/bin/x)".
#pragma once

#include <string_view>

#include "formats/stack_text/counted_stack.h"

namespace perftape::stack_text {

// Returns whether the first bytes of a text have a map with a stack.
bool IsBpftrace(std::string_view beginning);

// Calls `sink` for each entry with a stack and a number. The number of an average or of other
// statistics is their count.
TextCounts ReadBpftrace(std::string_view text, const StackSink& sink);

}  // namespace perftape::stack_text
