// SPDX-License-Identifier: Apache-2.0
// Stacks with one frame on each line, innermost first, and a number after them. The tools of bcc
// (profile, offcputime, stackcount) without -f and DTrace's stack() and ustack() print this form:
//
//       tcp_sendmsg                          genunix`kmem_cpu_reload+0x20
//       sock_sendmsg                         unix`_sys_sysenter_post_swapgs+0x149
//       -                iperf3 (58804)                    1
//           17
//
// stackcollapse.pl reads DTrace's. Lines before the first stack are headers.
#pragma once

#include <string_view>

#include "formats/stack_text/counted_stack.h"

namespace perftape::stack_text {

enum class StackListWriter : std::uint8_t { kNone, kBcc, kDtrace };

// Returns whose text it is, from its first bytes: kNone if they have no whole stack.
StackListWriter StackListWriterOf(std::string_view beginning);

TextCounts ReadStackList(std::string_view text, const StackSink& sink);

}  // namespace perftape::stack_text
