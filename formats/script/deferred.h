// SPDX-License-Identifier: Apache-2.0
// Deferred user callchains in the text of `perf script --no-merge-callchains` of perf 7
// (builtin-script.c, process_deferred_sample_event). The callchain of a sample ends in its cookie:
//
//   app 101 12.345678: 7 cycles:
//   	ffffffff81001000 do_syscall_64+0x12 ([kernel.kallsyms])
//   	       b00000006 (cookie) ([unknown])
//
// The frames of the user part follow later, for all samples of the thread with this cookie:
//
//   app 101 12.345690: DEFERRED CALLCHAIN [cookie: b00000006]
//   	          401000 main+0x6 (/usr/bin/app)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/script/frame_line.h"
#include "formats/script/head_line.h"

namespace perftape::script {

// The cookie of a block of user frames, which Reader returns as a sample; nothing for a sample.
std::optional<std::uint64_t> CookieOfUserFrames(const Head& head);

// Removes the cookie from the end of a sample's frames, and returns it; nothing if it has none.
std::optional<std::uint64_t> RemoveCookie(std::vector<Frame>& frames);

}  // namespace perftape::script
