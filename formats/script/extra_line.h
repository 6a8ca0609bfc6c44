// SPDX-License-Identifier: Apache-2.0
// The lines of perf script that are neither the first line of a sample, nor a frame, nor a record:
// what builtin-script.c prints for other fields (-F) after a callchain, the errors of traces, and
// the messages of perf that are in the text if its errors were redirected into it ("2>&1").
//
//    instruction trace error type 1 time 4525.744123981 cpu 0 pid 7 tid 7 ip 0 code 8: Lost trace
//    data 0x4005c8/0x4005dc/P/-/-/0  0x40062f/0x4005b0/P/-/-/0             +brstack
//   main+0x1/f+0x5/P/-/-/0/                                            +brstacksym
//   	bar+0:                                                           +brstackinsn
//   	0000000000400580	insn: 55 48 89 e5                               +brstackinsn
//    ABI:2    AX:0x40c9708000000000    BX:0x2004c8                     +uregs, +iregs
//    insn: 48 89 e5                                                    +insn
//    ilen: 3                                                           +insnlen
//    	 IPC: 0.50 (10/20)                                               +ipc
//   |12       return x;                                                +srccode
//         BPF output: 0000: 68 65 6c 6c 6f                             of a bpf-output event
#pragma once

#include <cstdint>
#include <string_view>

namespace perftape::script {

enum class ExtraLine : std::uint8_t {
  kNone,        // not a line of perf script
  kOrdinary,    // not needed for a profile
  kTraceError,  // a part of a trace that could not be decoded
  kLostChunks,  // "Processed 461 events and lost 2 chunks!"
};

// `line` has its blanks.
ExtraLine ClassifyExtraLine(std::string_view line);

// Whether perf may have printed the text after the frame of a sample without a callchain: branches,
// registers, instructions, physical addresses, sizes of pages. `text` has no blanks around it.
bool IsBehindFrame(std::string_view text);

// Whether all words are physical addresses or sizes of pages: "12345000 4K 2M".
bool IsOfNumbers(std::string_view text);

// Whether a line is a trace error. Trace errors look like first lines of samples if their leading
// blank is missing.
bool IsTraceError(std::string_view line);

// Returns "Lost trace data" of a trace error; the whole line if it has no such text.
std::string_view MessageOfTraceError(std::string_view line);

// Returns 2 of "lost 2 chunks"; 0 for any other line.
std::uint64_t ChunksIn(std::string_view line);

}  // namespace perftape::script
