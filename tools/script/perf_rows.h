// SPDX-License-Identifier: Apache-2.0
// The options of perf script (6.1 and 7.3) that have no row of their own in command_line.cc: those
// that ask for what perftape-script does anyway, and those that it cannot do, with the reason.
#pragma once

#include <string_view>

#include "tools/common/cli/options.h"
#include "tools/script/command_line.h"

namespace perftape::script_tool {

inline constexpr std::string_view kOfScripts =
    "scripts in Python or Perl are not run: pipe the text into a program, or read "
    "'perftape-inspect --samples --json --fields', which has a JSON object for each sample";
inline constexpr std::string_view kOfRecords =
    "'perftape-inspect --records' prints each record with all fields, and 'perftape-inspect "
    "--validate' checks them";
inline constexpr std::string_view kOfTraces =
    "hardware traces (Intel PT, CoreSight) are not decoded: use perf script on this machine";
inline constexpr std::string_view kOfFilterLibraries =
    "no code is loaded into perftape: use --comms, --pid, --dsos, --symbols or --time, or filter "
    "the text";
inline constexpr std::string_view kOfGuests =
    "symbols of guests are not looked up: record in the guest";
inline constexpr std::string_view kOfSwitches =
    "select the time between the events with --time FROM,TO; 'perftape-report --path "
    "--from-event' does so by events";

inline constexpr cli::Option kAlreadySoPerfRows[] = {
    {.name = "all-cpus",
     .letter = 'a',
     .reason = "all CPUs of the recording are printed; --cpu selects some"},
    {.name = "no-itrace", .reason = "hardware traces are never decoded"},
    {.name = "demangle-kernel", .reason = "names in the kernel are demangled as all others"},
    {.name = "addr2line",
     .argument = "FILE",
     .reason = "source lines are read from the debug information without another program"},
    {.name = "merge-callchains",
     .reason = "user callchains that the kernel recorded later are merged with their samples"},
    {.name = "unwind-style",
     .argument = "STYLE",
     .reason = "copied stacks are unwound without libdw and libunwind"},
};

inline constexpr cli::Option kRefusedPerfRows[] = {
    {.name = "script", .letter = 's', .argument = "NAME", .reason = kOfScripts},
    {.name = "gen-script", .letter = 'g', .argument = "LANGUAGE", .reason = kOfScripts},
    {.name = "list",
     .letter = 'l',
     .reason = "perftape has no scripts: 'perftape-report' and 'perftape-convert' compute what "
               "most of perf's scripts do, and 'perftape help' lists the rest"},
    {.name = "dump-raw-trace", .letter = 'D', .reason = kOfRecords},
    {.name = "dump-unsorted-raw-trace", .reason = kOfRecords},
    {.name = "debug-mode", .letter = 'd', .reason = kOfRecords},
    {.name = "itrace", .argument = "WORDS", .argument_is_optional = true, .reason = kOfTraces},
    {.name = "insn-trace", .argument = "WORDS", .argument_is_optional = true, .reason = kOfTraces},
    {.name = "call-trace", .argument = "WORDS", .argument_is_optional = true, .reason = kOfTraces},
    {.name = "call-ret-trace",
     .argument = "WORDS",
     .argument_is_optional = true,
     .reason = kOfTraces},
    {.name = "xed", .argument = "WORDS", .argument_is_optional = true, .reason = kOfTraces},
    {.name = "graph-function", .argument = "NAMES", .reason = kOfTraces},
    {.name = "max-blocks", .argument = "N", .reason = kOfTraces},
    {.name = "stitch-lbr", .reason = kOfTraces},
    {.name = "dlfilter", .argument = "FILE", .reason = kOfFilterLibraries},
    {.name = "dlarg", .argument = "TEXT", .reason = kOfFilterLibraries},
    {.name = "list-dlfilters", .reason = kOfFilterLibraries},
    {.name = "guest-code", .reason = kOfGuests},
    {.name = "guestkallsyms", .argument = "FILE", .reason = kOfGuests},
    {.name = "guestmodules", .argument = "FILE", .reason = kOfGuests},
    {.name = "guestmount", .argument = "DIR", .reason = kOfGuests},
    {.name = "guestvmlinux", .argument = "FILE", .reason = kOfGuests},
    {.name = "Latency",
     .letter = 'L',
     .reason = "the flags of tracepoints are in 'perftape-inspect --records', as common_flags"},
    {.name = "switch-on", .argument = "EVENT", .reason = kOfSwitches},
    {.name = "switch-off", .argument = "EVENT", .reason = kOfSwitches},
    {.name = "show-on-off-events", .reason = kOfSwitches},
    {.name = "show-text-poke-events",
     .reason = "'perftape-inspect --records' prints the records TEXT_POKE"},
    {.name = "show-kernel-path",
     .reason = "--show-sources prints the file that the kernel's names come from"},
    {.name = "full-source-path",
     .reason = "source lines have only the name of the file: 'perftape-convert' writes whole paths "
               "to pprof"},
    {.name = "stop-bt",
     .argument = "NAMES",
     .reason = "--max-stack N ends callchains; 'perftape-convert --focus' selects functions"},
    {.name = "addr-range", .argument = "N", .reason = "select functions with --symbols"},
};

}  // namespace perftape::script_tool
