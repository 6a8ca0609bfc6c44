// SPDX-License-Identifier: Apache-2.0
// The first line of a sample, as perf_sample__fprintf_start and process_event of perf's
// builtin-script.c print it:
//
//   COMM PID/TID [CPU] SECONDS.FRACTION: PERIOD EVENT: TEXT
//
//   swapper     0 [000] 12345.678901:     250000 cpu-clock:
//    migration/0    16 [000]    33.465933:    3344481 cpu-clock:  ffffffffb240e6c9 f+0x19 ([k])
//   my prog 12/34 5.123456789: sched:sched_switch: prev_comm=sh prev_pid=7
//   prog 7 cycles:
//   prog  7 [003] K      5.123456: 1 cycles:                 with -F +misc
//   prog  7 [003] 2026-11-25 09:06:45.123456 5.123456: 1 cycles:   with -F +tod
//    my prog    12   3    5.123456: 1 cycles:               with --Latency: 8 columns of the comm
//
// Each field can be missing (perf script -F); the TID only if the CPU is there. A comm can have any
// characters, and look like other fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::script {

// The kernel's longest comm. Only other tools write longer ones.
inline constexpr std::size_t kLongestComm = 15;

// -1, as perf prints an unknown id.
inline constexpr std::uint32_t kNoId = 0xffff'ffff;

// The comm of samples without a thread, in a text of perftape.
inline constexpr std::string_view kNoThreadComm = "[no-thread]";

// The beginning of the names of records, in lines that are not samples.
inline constexpr std::string_view kRecordMark = "PERF_RECORD_";

// All texts are views of the line.
struct Head {
  std::string_view comm = {};             // without the blanks around it; empty if it is missing
  std::optional<std::uint32_t> pid = {};  // nothing if the line has only the thread
  std::uint32_t tid = 0;
  std::optional<std::uint32_t> cpu = {};
  std::optional<std::uint64_t> time_ns = {};
  std::optional<std::uint64_t> period = {};
  std::string_view event = {};  // empty if it is missing
  // After the event: the frame of a sample without a callchain, the text of a tracepoint, or both.
  std::string_view rest = {};
  // Whether it is a record that perf script --show-mmap-events and others print. `rest` begins with
  // kRecordMark.
  bool is_record = false;
  // Whether it is a line of -F +metric, which is about the sample before it.
  bool is_metric = false;
};

// Parses a line without its end. Nothing if it is not the first line of a sample. A line without a
// time must have an event, and no blanks before the comm. The fraction of a time has up to nine
// digits: perf prints six, or nine; simpleperf fewer.
//
// Of several readings of a line, the one with the longest comm of at most kLongestComm bytes is
// returned; if there is none, the one with the shortest comm.
std::optional<Head> ParseHead(std::string_view line);

// Parses a line with a comm and a thread only, as -F comm,tid,ip,sym prints it: "prog     7 ". A
// blank must follow, because any text can end in a number.
std::optional<Head> ParseThreadLine(std::string_view line);

// Parses a line that is followed by a frame, and that ParseHead and ParseThreadLine do not take for
// the first line of a sample: -F without comm or thread prints "prog ", "7 ", " 12.345678: " or
// "cycles: ". A missing thread is kNoId. Nothing if the comm would be longer than kLongestComm.
std::optional<Head> ParseShortHead(std::string_view line);

// The digits after the point of a time.
enum class TimeDigits : std::uint8_t { kMicroseconds = 6, kNanoseconds = 9 };

// Appends the first line of a sample, with its end. `comm` is WritableComm's. A missing
// pid is left out; a missing period is written as 1.
void AppendHead(std::string& out, const Head& head, TimeDigits digits);

// Returns a comm that all readers of the text recognize: blanks become '_'. stackcollapse-perf.pl
// needs two characters, skips a line that begins with '#', and takes the next field for a part of a
// shorter comm; inferno takes a comm of digits and slashes for a thread. So these get a '_' at
// their end, or instead of the '#'. Control characters become '_', too.
std::string WritableComm(std::string_view comm);

}  // namespace perftape::script
