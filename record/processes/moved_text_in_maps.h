// SPDX-License-Identifier: Apache-2.0
// Finds program text that was moved to memory without a file (formats/perfdata/moved_text.h) before
// the recording started, by the remaining mappings of the file in /proc/PID/maps.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "record/machine/proc_files.h"

namespace perftape::record {

// Makes each executable mapping without a file that is the text of one a mapping of that file, with
// its name, device, inode and offset. `lines` are all of a process, in their order.
// `may_hold_text` returns whether a mapping of this name can be moved text.
//
// The memory is text if it fills the gap between two mappings of one file, or begins where the file
// has to begin, because only later parts of it are mapped. Their offsets must fit. The last page
// that a segment has of the file may be the first one of the next segment, too.
void NameMovedText(std::span<MapsLine> lines,
                   const std::function<bool(std::string_view)>& may_hold_text);

}  // namespace perftape::record
