// SPDX-License-Identifier: Apache-2.0
#include "formats/script/extra_line.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "formats/script/words.h"

namespace perftape::script {
namespace {

// perf_event__fprintf_auxtrace_error of util/auxtrace.c.
constexpr std::string_view kTraceError = " trace error type ";
constexpr std::string_view kLostChunks = " and lost ";

// What fields and messages begin with, after blanks.
constexpr auto kBeginnings = std::to_array<std::string_view>({
    // perf_sample__fprintf_regs, _insn, _ipc, _brstackinsn and others of builtin-script.c
    "ABI:",
    "insn:",
    "ilen:",
    "IPC:",
    "BPF output:",
    "BPF string:",
    "metric:",
    "... not reaching sample ...",
    "mismatch of LBR data",
    "cannot resolve",
    "cannot fetch code",
    // what perf says of a recording, and of symbols: util/session.c, header.c, symbol.c, dso.c
    "Warning:",
    "WARNING:",
    "Was the 'perf record' command properly terminated?",
    "Check IO/CPU overload!",
    "Processed ",
    "No kallsyms or vmlinux",
    "Failed to open",
    "no symbols found in",
    "[ perf record:",
    "Misordered timestamps:",
    "Looking at the vmlinux_path",
    "pmu capabilities not available",
    "build id event received",
    "addr2line",
    "cmd__addr2line",
    "unwind:",
    "dso open failed",
});

// What such messages have in the middle.
constexpr auto kMessages = std::to_array<std::string_view>({
    "continuing without symbols",
    "instruction trace errors",
    "out of order events recorded",
    "unprocessable samples recorded",
    "AUX data lost",
    "AUX data had gaps",
    "unknown events!",
    "samples with id not present in the header",
    "data size field is 0 which is unexpected",
});

bool HasAny(std::string_view text, const auto& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// Whether a word is a branch: FROM/TO/P/-/-/0, with further fields in later versions. The first
// field is M (mispredicted), P, or '-' for neither; then transaction and abort (X, A, '-'), cycles.
bool EndsAsBranch(std::string_view text) {
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    const std::string_view flags = text.substr(at, 7);
    const auto one_of = [&](std::size_t i, std::string_view letters) {
      return letters.find(flags[i]) != std::string_view::npos;
    };
    const bool is_one = flags.size() == 7 && one_of(1, "MPN-") && flags[2] == '/' &&
                        one_of(3, "X-") && flags[4] == '/' && one_of(5, "A-") && flags[6] == '/';
    if (is_one && text.substr(at + 7).find_first_of("0123456789") == 0) return true;
  }
  return false;
}

// A line of a dump: "0010: 68 65 6c 6c 6f".
bool IsDump(std::string_view text) {
  const std::string_view word = FirstWord(text);
  return word.size() == 5 && word.ends_with(':') && IsAddress(word.substr(0, 4));
}

// "\tmain+16:", the label of a block of instructions, and instructions.
bool IsOfBlock(std::string_view line, std::string_view text) {
  if (!line.starts_with('\t')) return false;
  constexpr std::size_t kDigits = 16;
  if (text.find('\t') == kDigits && IsAddress(text.substr(0, kDigits))) return true;
  if (!text.ends_with(':')) return false;
  return text.find(' ') == std::string_view::npos || text.find('+') != std::string_view::npos;
}

}  // namespace

bool IsOfNumbers(std::string_view text) {
  while (!text.empty()) {
    std::string_view word = FirstWord(text);
    text = TrimLeft(text.substr(word.size()));
    if (word == "N/A") continue;
    if (word.ends_with('K') || word.ends_with('M') || word.ends_with('G')) word.remove_suffix(1);
    if (!IsAddress(word)) return false;
  }
  return true;
}

bool IsBehindFrame(std::string_view text) {
  constexpr auto kFields = std::to_array<std::string_view>({"ABI:", "insn:", "ilen:", "IPC:"});
  const auto begins = [&](std::string_view field) { return text.starts_with(field); };
  if (std::ranges::any_of(kFields, begins) || IsOfNumbers(text)) return true;
  // The address of another frame can follow that of the data (-F +addr), with branches behind it.
  return !IsAddress(FirstWord(text)) && EndsAsBranch(text);
}

bool IsTraceError(std::string_view line) {
  const std::size_t mark = line.find(kTraceError);
  // "instruction trace error": nothing else precedes it.
  return mark != std::string_view::npos &&
         TrimLeft(line.substr(0, mark)).find(' ') == std::string_view::npos;
}

std::string_view MessageOfTraceError(std::string_view line) {
  constexpr std::string_view kCode = " code ";
  const std::string_view text = TrimRight(TrimLeft(line));
  const std::size_t code = text.rfind(kCode);
  if (code == std::string_view::npos) return text;
  const std::size_t colon = text.find(": ", code);
  return colon == std::string_view::npos ? text : text.substr(colon + 2);
}

std::uint64_t ChunksIn(std::string_view line) {
  const std::size_t mark = line.find(kLostChunks);
  if (mark == std::string_view::npos || !TrimLeft(line).starts_with("Processed ")) return 0;
  const std::string_view rest = line.substr(mark + kLostChunks.size());
  const std::string_view number = FirstWord(rest);
  if (!TrimLeft(rest.substr(number.size())).starts_with("chunks")) return 0;
  return ParseNumber(number).value_or(0);
}

ExtraLine ClassifyExtraLine(std::string_view line) {
  const std::string_view text = TrimRight(TrimLeft(line));
  if (IsTraceError(line)) return ExtraLine::kTraceError;
  if (ChunksIn(line) != 0) return ExtraLine::kLostChunks;
  const auto begins = [&](std::string_view beginning) { return text.starts_with(beginning); };
  const bool is_source = line.starts_with('|') && line.size() > 1 && IsDigit(line[1]);
  // perf script -D: "0x5838@perf.data [0x88]: event: 1", and what follows it.
  const bool is_dump = line.starts_with('.') || text.find(" [0x") != std::string_view::npos;
  const bool is_ordinary = is_source || is_dump || std::ranges::any_of(kBeginnings, begins) ||
                           EndsAsBranch(text) || IsDump(text) || IsOfBlock(line, text) ||
                           HasAny(text, kMessages) || (IsBlank(line.front()) && IsOfNumbers(text));
  return is_ordinary ? ExtraLine::kOrdinary : ExtraLine::kNone;
}

}  // namespace perftape::script
