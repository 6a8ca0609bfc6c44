// SPDX-License-Identifier: Apache-2.0
// Parsers for the text files of /proc that list tasks and mappings. They work on borrowed text,
// because a system has thousands of lines and the recording waits for them.
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

// Returns the number if all of `text` is a number and fits; otherwise nothing.
std::optional<std::uint64_t> ParseNumber(std::string_view text, int base = 10);

// The fields of /proc/PID/stat that identify a task (Documentation/filesystems/proc.rst, table
// 1-4).
struct TaskStat {
  std::uint32_t pid = 0;
  std::uint32_t ppid = 0;
  std::string_view comm;  // points into the text; kernel workers have longer names than COMM
  bool is_kernel_thread = false;
};
std::optional<TaskStat> ParseTaskStat(std::string_view text);

// A line of /proc/PID/maps, with the fields of a MMAP2 record:
//   7f2003018000-7f200316e000 r-xp 00026000 fe:00 332835      /usr/lib/x86_64-linux-gnu/libc.so.6
struct MapsLine {
  std::uint64_t start = 0, end = 0, page_offset = 0;
  std::uint32_t protection = 0;  // PROT_READ, PROT_WRITE, PROT_EXEC
  std::uint32_t flags = 0;       // MAP_SHARED or MAP_PRIVATE
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;
  std::string_view name;  // points into the line; newlines are escaped; empty without a name
};
std::optional<MapsLine> ParseMapsLine(std::string_view line);

// Returns the name of a mapping as MMAP2 records of the kernel have it (perf_event_mmap_event in
// kernel/events/core.c): "//anon" for memory without a file, even if prctl(PR_SET_VMA) named it.
// Keeps " (deleted)". Unescapes only "\012", because the kernel escapes only newlines in this file
// (show_map_vma).
std::string MappingName(std::string_view name_in_maps);

}  // namespace perftape::record
