// SPDX-License-Identifier: Apache-2.0
// The lines and frames of tracers' texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perftape::stack_text {

// Removes the next line from `text`, and sets `line` to it without blanks and '\r' at its end.
// Returns false at the end.
bool ReadLine(std::string_view& text, std::string_view& line);

// Nothing if the text is no whole number with an optional sign, or too large for 64 bits.
std::optional<std::int64_t> ParseCount(std::string_view text);

// Removes the offset from "schedule+38", "schedule+0x26" or "main+0x1 (/bin/x)", and Python's marks
// from "b'schedule'". Views of the text.
std::string_view FrameName(std::string_view text);

// Whether the outermost frame of a stack is where the kernel is entered or a thread of it begins:
// "entry_SYSCALL_64_after_hwframe", "ret_from_fork". Tracers print kernel and user stacks in the
// order in which a script names them.
bool IsKernelEntry(std::string_view outermost);

}  // namespace perftape::stack_text
