// SPDX-License-Identifier: Apache-2.0
#include "formats/script/frame_line.h"

#include <algorithm>
#include <cstddef>

#include "formats/base/text.h"
#include "formats/script/escape.h"
#include "formats/script/extra_line.h"
#include "formats/script/words.h"

namespace perftape::script {
namespace {

constexpr std::string_view kInlined = "(inlined)";

// Removes the word from the end of `text`, with the blanks before it.
bool RemoveEnding(std::string_view& text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  text = TrimRight(text.substr(0, text.size() - word.size()));
  return true;
}

constexpr std::string_view kOpen = " (";

// Whether the text after the " (" at `open` begins as the name of a file or of other memory.
bool BeginsDso(std::string_view text, std::size_t open) {
  const std::string_view dso = text.substr(std::min(open + kOpen.size(), text.size()));
  return dso.starts_with('/') || dso.starts_with('[');
}

// The last " (" of a name of a file or of other memory; one after an offset, with no such name
// after it; and the last one that is both. npos if there is none.
struct Opens {
  std::size_t of_dso = std::string_view::npos;
  std::size_t after_offset = std::string_view::npos;
  std::size_t of_dso_after_offset = std::string_view::npos;
};

Opens FindOpens(std::string_view text) {
  constexpr std::size_t npos = std::string_view::npos;
  constexpr std::string_view kDeleted = " (deleted)";  // the end of a dso
  Opens opens;
  for (std::size_t open = text.rfind(kOpen); open != npos && open != 0;
       open = text.rfind(kOpen, open - 1)) {
    const bool is_dso = BeginsDso(text, open);
    std::string_view name = text.substr(0, open);
    name = name.substr(name.find_last_of(" \t") + 1);
    const bool ends_name = name.find('+') != std::string_view::npos && RemoveOffset(name);
    if (is_dso && ends_name) {
      opens.of_dso_after_offset = open;
      break;
    }
    const bool is_first = opens.after_offset == npos && opens.of_dso == npos;
    if (ends_name && is_first && text.substr(open) != kDeleted) opens.after_offset = open;
    if (is_dso && opens.of_dso == npos) opens.of_dso = open;
  }
  return opens;
}

// Returns the offset of the " (" before a dso; npos if there is none.
std::size_t FindDso(std::string_view text, Writer writer) {
  const std::size_t last = text.rfind(kOpen);
  if (writer == Writer::kPerftape || last == std::string_view::npos) return last;
  // Nearly all lines have one " (", before a dso.
  const bool is_only = text.find('(') == last + 1 || text.find(kOpen) == last;
  if (is_only && BeginsDso(text, last)) return last;
  const Opens opens = FindOpens(text);
  for (const std::size_t open : {opens.of_dso_after_offset, opens.after_offset, opens.of_dso}) {
    if (open != std::string_view::npos) return open;
  }
  return last;
}

// Removes "(DSO)" and what follows it from the end of `text`, and returns the DSO.
std::string_view RemoveDso(std::string_view& text, Writer writer) {
  constexpr std::string_view kTarget = ") => ";
  const bool is_of_perf = writer == Writer::kPerf;
  const std::size_t target = is_of_perf ? text.find(kTarget) : std::string_view::npos;
  if (target != std::string_view::npos) text = text.substr(0, target + 1);
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos) return {};
  const std::size_t open = FindDso(text.substr(0, close), writer);
  if (open == std::string_view::npos) return {};
  std::string_view dso = text.substr(open + 2, close - open - 2);
  if (is_of_perf) RemoveOffset(dso);  // of -F +dsoff
  text = text.substr(0, open);
  return dso;
}

// Whether a line is an instruction of a branch: perf prints its address in 16 digits and a tab
// after it. simpleperf separates with tabs, too, but its addresses are not padded, and it names the
// file.
bool IsInstruction(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  const bool has_tab = text.size() > kDigits && text[kDigits] == '\t';
  if (!has_tab || FirstWord(text).size() != kDigits) return false;
  const bool is_insn = TrimLeft(text.substr(kDigits)).starts_with("insn:");
  const bool has_dso =
      text.find(" (/") != std::string_view::npos || text.find(" ([") != std::string_view::npos;
  return is_insn || !has_dso;
}

}  // namespace

std::optional<Frame> ParseFrame(std::string_view text, Writer writer) {
  const std::string_view word = FirstWord(text);
  const auto address = ParseAddress(word);
  if (!address || IsInstruction(text)) return {};
  Frame frame = {.address = *address, .text = text};
  std::string_view rest = text.substr(word.size());
  frame.is_inlined = RemoveEnding(rest, kInlined);
  if (!frame.is_inlined) frame.dso = RemoveDso(rest, writer);
  frame.symbol = TrimLeft(rest);
  frame.symbol_offset = RemoveOffset(frame.symbol);
  frame.symbol = TrimRight(frame.symbol);
  return frame;
}

bool IsIndentedFrame(std::string_view line) {
  constexpr std::size_t kColumns = 16;
  if (!line.starts_with('\t')) return false;
  line.remove_prefix(1);
  const std::string_view text = TrimLeft(line);
  const std::string_view word = FirstWord(text);
  return IsAddress(word) && line.size() - text.size() + word.size() == kColumns &&
         !IsInstruction(text);
}

namespace {

bool BeginsAsDso(std::string_view dso) {
  return dso.starts_with('/') || dso.starts_with('[');
}

// Returns the text up to the end of its last frame.
std::string_view WithoutFieldsBehind(std::string_view text) {
  for (std::size_t close = text.find(')'); close != std::string_view::npos;
       close = text.find(')', close + 1)) {
    const std::string_view behind = text.substr(close + 1);
    if (behind.empty() || !IsBlank(behind.front())) continue;
    if (IsBehindFrame(TrimLeft(behind))) return text.substr(0, close + 1);
  }
  return text;
}

// Whether the text begins with an address and has a name after it.
bool BeginsWithAddress(std::string_view text) {
  const std::string_view word = FirstWord(text);
  return IsAddress(word) && !TrimLeft(text.substr(word.size())).empty();
}

}  // namespace

std::optional<Frame> ParseFrameAtEnd(std::string_view rest, Writer writer) {
  constexpr std::size_t kColumns = 17;
  const std::string_view text = WithoutFieldsBehind(TrimRight(rest));
  const std::size_t begin_of_text = text.size() - TrimLeft(text).size();
  const auto whole = ParseFrame(TrimLeft(text), writer);
  // What -F +addr, +weight and others print before it looks like its address.
  const bool is_number_before = whole && BeginsWithAddress(whole->symbol);
  if (whole && !is_number_before && BeginsAsDso(whole->dso)) return whole;
  if (!text.ends_with(')')) {
    // -F without dso: only the columns tell a frame from a tracepoint's text.
    const std::size_t columns = begin_of_text + FirstWord(TrimLeft(text)).size();
    const bool is_aligned = columns == kColumns || columns == kColumns + 1;
    const bool is_frame =
        whole && is_aligned && !is_number_before && whole->dso.empty() && !whole->symbol.empty();
    return is_frame ? whole : std::nullopt;
  }
  std::optional<Frame> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const std::string_view word = FirstWord(text.substr(begin));
    const bool is_aligned = begin - at + word.size() >= kColumns;
    at = begin + word.size();
    if (!is_aligned || !IsAddress(word)) continue;
    const auto frame = ParseFrame(text.substr(begin), writer);
    if (frame && !frame->dso.empty()) found = frame;
  }
  return found;
}

bool ParseSourceLine(std::string_view text, Frame& frame) {
  constexpr std::string_view kDiscriminator = " (discriminator ";
  text = TrimRight(TrimLeft(text));
  const bool is_inlined = RemoveEnding(text, kInlined);
  if (const std::size_t mark = text.rfind(kDiscriminator); mark != std::string_view::npos) {
    text = TrimRight(text.substr(0, mark));
  }
  const bool is_unknown = text.ends_with(']') && text.find('[') != std::string_view::npos;
  const std::size_t colon = text.rfind(':');
  const bool has_line = colon != std::string_view::npos && colon != 0 &&
                        (IsNumber(text.substr(colon + 1)) || text.substr(colon + 1) == "?");
  if (!is_unknown && !has_line) return false;
  frame.is_inlined |= is_inlined;
  const auto line = has_line ? ParseNumber(text.substr(colon + 1)) : std::nullopt;
  const std::string_view file = text.substr(0, has_line ? colon : 0);
  if (line && *line > 0 && *line <= INT32_MAX && file != "??") {
    frame.source_file = file;
    frame.source_line = static_cast<std::int64_t>(*line);
  }
  return true;
}

void AppendFrame(std::string& out, const Frame& frame) {
  // Of a dso: what readers of the text do not allow in it.
  constexpr std::string_view kNotInDso = " ()";
  AppendFormat(out, "\t{:16x} ", frame.address);
  std::string_view symbol = frame.symbol;
  // The readers skip a function that begins so, as the name of a process.
  const bool is_odd = symbol.starts_with('(') || symbol.starts_with(' ') || symbol.ends_with(' ');
  AppendEscaped(out, symbol, is_odd ? kNotInDso : "");
  // Readers remove one offset.
  if (RemoveOffset(symbol)) out += "+0x0";
  out += " (";
  if (frame.is_inlined) {
    out += kInlined.substr(1);
  } else {
    AppendEscaped(out, frame.dso, kNotInDso);
    out.push_back(')');
  }
  out.push_back('\n');
}

}  // namespace perftape::script
