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
// their own. A stack of mode perf has addresses and files: "ffffffff8101 f+1 (/bin/x)". A tuple is
// a key in parentheses, whose parts are keys here. An entry of a map with stacks whose own are all
// empty has one line: "@stacks[, , sh]: 7".
#pragma once

#include <string_view>

#include "formats/stack_text/counted_stack.h"

namespace perftape::stack_text {

// Returns whether the first bytes of a text have a map with a stack.
bool IsBpftrace(std::string_view beginning);

// Whether the first bytes of a text are stacks that a script printed itself, and that no map
// counts: printf("%s", ustack).
bool IsPrintedByBpftrace(std::string_view beginning);

// Calls `sink` for each entry that has a number, in maps with stacks. For an average and other
// statistics, the number is the count.
TextCounts ReadBpftrace(std::string_view text, const StackSink& sink);

}  // namespace perftape::stack_text
