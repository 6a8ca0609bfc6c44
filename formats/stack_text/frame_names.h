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

// Nothing if the text is not a whole number with an optional sign, or is too large for 64 bits.
std::optional<std::int64_t> ParseCount(std::string_view text);

// Removes the address from "7f1e2215d058 main+4 (/bin/x)", the offset from "schedule+38",
// "schedule+0x26" or "main+1 (/bin/x)", the file after both, and Python's marks from "b'schedule'".
// Views of the text.
std::string_view FrameName(std::string_view text);

// Whether a frame begins with an address of the kernel: 16 digits, and the first four are ffff.
bool HasKernelAddress(std::string_view text);

// Whether a frame ends in a decimal offset, or in one before a file: "main+4", "main+4 (/bin/x)".
// bpftrace writes them. perf and bcc write "+0x4".
bool HasDecimalOffset(std::string_view text);

// Whether the outermost frame of a stack is where the kernel is entered or a thread of it begins:
// "entry_SYSCALL_64_after_hwframe", "ret_from_fork". Tracers print kernel and user stacks in the
// order in which a script names them.
bool IsKernelEntry(std::string_view outermost);

}  // namespace perftape::stack_text
