// SPDX-License-Identifier: Apache-2.0
#include "formats/stack_text/frame_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "formats/base/text.h"

namespace perftape::stack_text {
namespace {

bool IsOffset(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return ('0' <= c && c <= '9') || (is_hex && 'a' <= c && c <= 'f');
  });
}

// Removes a suffix that begins with `open` and ends with `close`: " (/bin/x)", " [libc.so.6]".
void RemoveFile(std::string_view& text, std::string_view open, char close) {
  const std::size_t at = text.rfind(open);
  if (at == std::string_view::npos || at == 0 || !text.ends_with(close)) return;
  text = text.substr(0, at);
}

}  // namespace

bool ReadLine(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

std::optional<std::int64_t> ParseCount(std::string_view text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, count);
  if (text.empty() || error != std::errc() || parsed != end) return {};
  return count;
}

std::string_view FrameName(std::string_view text) {
  text = Trimmed(text);
  if (text.size() > 2 && text.starts_with("b'") && text.ends_with('\'')) {
    text = text.substr(2, text.size() - 3);
  }
  const std::size_t plus_before_file = text.rfind("+0x");
  if (plus_before_file != std::string_view::npos) {
    RemoveFile(text, " (", ')');
    RemoveFile(text, " [", ']');
  }
  const std::size_t plus = text.rfind('+');
  if (plus != std::string_view::npos && plus != 0 && IsOffset(text.substr(plus + 1))) {
    text = text.substr(0, plus);
  }
  return text;
}

bool IsKernelEntry(std::string_view outermost) {
  constexpr auto kBeginnings = std::to_array<std::string_view>({"entry_",
                                                                "do_syscall_",
                                                                "syscall_",
                                                                "ret_from_fork",
                                                                "ret_to_user",
                                                                "secondary_startup",
                                                                "asm_",
                                                                "el0",
                                                                "el1",
                                                                "kthread",
                                                                "start_kernel",
                                                                "x86_64_start",
                                                                "ret_from_exception",
                                                                "system_call",
                                                                "__switch_to",
                                                                "cpu_startup_entry",
                                                                "common_startup",
                                                                "page_fault",
                                                                "__entry_text",
                                                                "apic_timer_interrupt",
                                                                "native_safe_halt"});
  return std::ranges::any_of(
      kBeginnings, [&](std::string_view beginning) { return outermost.starts_with(beginning); });
}

}  // namespace perftape::stack_text
