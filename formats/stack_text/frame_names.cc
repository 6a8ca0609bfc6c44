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

// Returns the length of "7f1e2215d058" at the start of a frame that has more; 0 if there is none.
std::size_t SizeOfAddress(std::string_view frame) {
  constexpr std::size_t kFewest = 5;
  constexpr std::size_t kMost = 16;
  const std::size_t blank = frame.find(' ');
  if (blank == std::string_view::npos || blank < kFewest || blank > kMost) return 0;
  const std::string_view word = frame.substr(0, blank);
  const bool is_address = word.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                          word.find_first_of("0123456789") != std::string_view::npos;
  return is_address ? blank : 0;
}

// Returns the offset of '+' in "main+4" or "main+0x4"; npos if the text does not end so.
std::size_t FindOffset(std::string_view text) {
  const std::size_t plus = text.rfind('+');
  const bool is_one =
      plus != std::string_view::npos && plus != 0 && IsOffset(text.substr(plus + 1));
  return is_one ? plus : std::string_view::npos;
}

// Removes a file that follows an offset, as in "main+4 (/bin/x)" and "main+0x4 [libc.so.6]". Names
// and files can have parentheses.
std::string_view WithoutFileAfterOffset(std::string_view text) {
  const char close = text.empty() ? '\0' : text.back();
  if (close != ')' && close != ']') return text;
  const std::string_view open = close == ')' ? " (" : " [";
  for (std::size_t at = text.rfind(open); at != std::string_view::npos && at != 0;
       at = text.rfind(open, at - 1)) {
    if (FindOffset(text.substr(0, at)) != std::string_view::npos) return text.substr(0, at);
  }
  return text;
}

// Removes the file of a frame without an offset: "0x94ec00 ([unknown])".
std::string_view WithoutFile(std::string_view text) {
  if (!text.ends_with(')')) return text;
  for (const std::string_view open : {" (/", " (["}) {
    const std::size_t at = text.rfind(open);
    if (at != std::string_view::npos && at != 0) return text.substr(0, at);
  }
  return text;
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
  const std::size_t address = SizeOfAddress(text);
  text = Trimmed(text.substr(address));
  if (text.size() > 2 && text.starts_with("b'") && text.ends_with('\'')) {
    text = text.substr(2, text.size() - 3);
  }
  text = WithoutFileAfterOffset(text);
  const std::size_t offset = FindOffset(text);
  if (offset != std::string_view::npos) return text.substr(0, offset);
  return address != 0 ? WithoutFile(text) : text;
}

bool HasKernelAddress(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  text = Trimmed(text);
  return SizeOfAddress(text) == kDigits && text.starts_with("ffff");
}

bool HasDecimalOffset(std::string_view text) {
  text = WithoutFileAfterOffset(Trimmed(text));
  const std::size_t offset = FindOffset(text);
  return offset != std::string_view::npos && !text.substr(offset).starts_with("+0x");
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
