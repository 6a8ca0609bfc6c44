// SPDX-License-Identifier: Apache-2.0
// The lines of a callchain, as sample__fprintf_callchain of perf's evsel_fprintf.c prints them:
//
//   	ffffffff81001234 do_idle+0x12 ([kernel.kallsyms])
//   	          401136 inner (inlined)                       before the function that contains it
//   	          401136 main+0x6 (/usr/bin/my prog (1))
//   	           21b97 [unknown] (/usr/lib/libc.so.6)
//     prog.c:12                                             with -F +srcline
//
// perf 6.1 prints the address of a user frame as an offset in the file, perf 6.12 as it was
// sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::script {

// Who wrote a text: the names of a text of perftape are escaped, and its dsos have neither blanks
// nor parentheses.
enum class Writer : std::uint8_t { kPerf, kPerftape };

// The texts are views of the line. They are escaped in a text of perftape.
struct Frame {
  std::uint64_t address = 0;
  std::string_view symbol = {};  // without its offset; "[unknown]" or empty if it is not known
  std::optional<std::uint64_t> symbol_offset = {};  // "+0x1f"
  std::string_view dso = {};                        // "[unknown]" or empty if it is not known
  bool is_inlined = false;  // a part of the next frame that is not; has no dso
  std::string_view source_file = {};
  std::int64_t source_line = 0;
  std::string_view text = {};  // the whole line; of no use for its source line
};

// Parses a line, or the end of one, without blanks around it. Nothing if it does not begin with an
// address, or is an instruction of -F +brstackinsn. The name ends at the last offset before a dso
// ("+0x1f (/", "+0x1f (["), else at an offset
// before the last " (", else at the last " (/" or " ([", else at the last " (": names and dsos can
// contain blanks and parentheses. The dso ends at the last
// ')'. What follows it (branches of -F +brstack), and what follows ") => " (the target of a
// branch), is left out.
std::optional<Frame> ParseFrame(std::string_view text, Writer writer);

// Whether a line is a frame as perf script prints it below the first line of a sample: a tab, then
// an address in 16 columns. False for an instruction.
bool IsIndentedFrame(std::string_view line);

// Finds the frame at the end of a line: that of a sample without a callchain. perf aligns its
// address in 16 columns. A tracepoint's text, or the address and weight of a memory access, may
// precede it; branches, registers and physical addresses may follow it.
std::optional<Frame> ParseFrameAtEnd(std::string_view rest, Writer writer);

// Sets the source line of `frame` if `text` is one. Returns whether it is: "prog.c:12",
// "prog.c:12 (discriminator 3)", "prog.c:12 (inlined)", or an unknown one ("prog[401136]", "??:0").
bool ParseSourceLine(std::string_view text, Frame& frame);

// Appends the line of a frame, with its end. Its names are not escaped yet.
void AppendFrame(std::string& out, const Frame& frame);

}  // namespace perftape::script
