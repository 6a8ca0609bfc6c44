// SPDX-License-Identifier: Apache-2.0
// The text files of /proc that say what runs, read by hand over borrowed text: a system has
// thousands of their lines, and recording waits for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::record {

// Returns the first line of `text`, without its newline, and removes it from `text`. Returns
// nothing if `text` is empty.
std::optional<std::string_view> NextLine(std::string_view& text);

// Returns the text before the first `separator`, and removes it and the separator from `text`.
// Returns all of `text` if it has no separator.
std::string_view NextField(std::string_view& text, char separator);

// The number that is all of `text`; nothing where it is something else or does not fit.
std::optional<std::uint64_t> ParseNumber(std::string_view text, int base = 10);

// What of /proc/PID/stat (Documentation/filesystems/proc.rst, table 1-4) says who a task is.
struct TaskStat {
  std::uint32_t pid = 0;
  std::uint32_t ppid = 0;
  std::string_view comm;  // as long as the text; kernel workers have longer ones than COMM records
  bool is_kernel_thread = false;
};
std::optional<TaskStat> ParseTaskStat(std::string_view text);

// A line of /proc/PID/maps, in the terms of a MMAP2 record:
//   7f2003018000-7f200316e000 r-xp 00026000 fe:00 332835      /usr/lib/x86_64-linux-gnu/libc.so.6
struct MapsLine {
  std::uint64_t start = 0, end = 0, page_offset = 0;
  std::uint32_t protection = 0;  // of PROT_READ, PROT_WRITE, PROT_EXEC
  std::uint32_t flags = 0;       // MAP_SHARED or MAP_PRIVATE
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;
  std::string_view name;  // as it stands there, newlines escaped; empty for nameless memory
};
std::optional<MapsLine> ParseMapsLine(std::string_view line);

// The name of a mapping as the kernel's own MMAP2 records give it (perf_event_mmap_event in
// kernel/events/core.c): "//anon" for memory without a file, also where prctl(PR_SET_VMA) named it.
// " (deleted)" stays. The kernel escapes newlines in this file, and nothing else (show_map_vma), so
// only "\012" is undone.
std::string MappingName(std::string_view name_in_maps);

}  // namespace perftape::record
