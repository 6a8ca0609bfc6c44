// SPDX-License-Identifier: Apache-2.0
#include "record/machine/proc_files.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "formats/perfdata/mapping_name.h"

namespace perftape::record {
namespace {

// include/linux/sched.h: set in the flags of every kernel thread.
constexpr std::uint64_t kPfKthread = 0x00200000;

// Parses "r-xp": one letter each for read, write, execute and shared or private.
bool ParsePermissions(std::string_view text, MapsLine& line) {
  if (text.size() != 4) return false;
  line.protection = static_cast<std::uint32_t>((text[0] == 'r' ? PROT_READ : 0) |
                                               (text[1] == 'w' ? PROT_WRITE : 0) |
                                               (text[2] == 'x' ? PROT_EXEC : 0));
  line.flags = text[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  return true;
}

}  // namespace

std::optional<std::string_view> NextLine(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  return NextField(text, '\n');
}

std::string_view NextField(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return field;
}

std::optional<std::uint64_t> ParseNumber(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<TaskStat> ParseTaskStat(std::string_view text) {
  // The comm may contain any character, also parentheses and newlines; the fields after it do not.
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> pid = ParseNumber(text.substr(0, open));
  std::string_view rest = text.substr(close + 2);
  NextField(rest, ' ');  // state
  const std::optional<std::uint64_t> ppid = ParseNumber(NextField(rest, ' '));
  for (int i = 0; i < 4; ++i) NextField(rest, ' ');  // pgrp, session, tty_nr, tty_pgrp
  const std::optional<std::uint64_t> flags = ParseNumber(NextField(rest, ' '));
  if (!pid || !ppid || !flags) return std::nullopt;
  return TaskStat{.pid = static_cast<std::uint32_t>(*pid),
                  .ppid = static_cast<std::uint32_t>(*ppid),
                  .comm = text.substr(open + 2, close - open - 2),
                  .is_kernel_thread = (*flags & kPfKthread) != 0};
}

std::optional<MapsLine> ParseMapsLine(std::string_view text) {
  MapsLine line;
  const auto start = ParseNumber(NextField(text, '-'), 16);
  const auto end = ParseNumber(NextField(text, ' '), 16);
  const bool permitted = ParsePermissions(NextField(text, ' '), line);
  const auto offset = ParseNumber(NextField(text, ' '), 16);
  const auto device_major = ParseNumber(NextField(text, ':'), 16);
  const auto device_minor = ParseNumber(NextField(text, ' '), 16);
  const auto inode = ParseNumber(NextField(text, ' '));
  if (!start || !end || *end <= *start || !permitted || !offset || !device_major || !device_minor ||
      !inode) {
    return std::nullopt;
  }
  line.start = *start;
  line.end = *end;
  line.page_offset = *offset;
  line.device_major = static_cast<std::uint32_t>(*device_major);
  line.device_minor = static_cast<std::uint32_t>(*device_minor);
  line.inode = *inode;
  line.name = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  return line;
}

std::string MappingName(std::string_view name) {
  if (name.empty() || name.starts_with("[anon:")) {
    return std::string(perfdata::kAnonymousMappingName);
  }
  // Shared anonymous memory is a file of the kernel's own, with this name.
  if (name.starts_with("[anon_shmem:")) return std::string(perfdata::kSharedAnonymousMappingName);
  std::string decoded(name);
  for (std::size_t at = 0; (at = decoded.find("\\012", at)) != std::string::npos; ++at) {
    decoded.replace(at, 4, "\n");
  }
  return decoded;
}

}  // namespace perftape::record
