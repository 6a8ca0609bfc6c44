// SPDX-License-Identifier: Apache-2.0
// The table of perftape-convert's options.
#include "tools/common/profiles/symbol_options.h"
#include "tools/convert/command_line.h"

namespace perftape::convert_tool {
namespace {

using cli::Completion;

constexpr cli::Option kProfileOptions[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "what to convert, as an operand; - is stdin",
     .completion = Completion::kFile},
    {.name = "files-from0",
     .argument = "FILE",
     .help = "also convert the files whose names are in FILE, each ended by a NUL, as find -print0 "
             "writes them; - is stdin",
     .completion = Completion::kFile},
    {.name = "shard",
     .argument = "I/N",
     .help = "convert only the I-th of N parts of the inputs, from 1; auto or auto/N takes I from "
             "the environment of a Slurm array, an indexed Kubernetes job or GNU parallel"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "the result; - is stdout, the default where --to is given",
     .completion = Completion::kFile},
    {.name = "from",
     .argument = "FORMAT",
     .help = "what the inputs are, instead of what their first bytes say: perf.data, folded or "
             "pprof",
     .completion = Completion::kChoice,
     .choices = "perf.data folded pprof"},
    {.name = "to",
     .argument = "FORMAT",
     .help = "what the output becomes, instead of what its ending says: folded (.folded, "
             ".collapsed), pprof (.pb.gz, .pb, .pprof) or perf.data (.data)",
     .completion = Completion::kChoice,
     .choices = "folded pprof perf.data"},
    {.name = "force", .letter = 'f', .help = "replace an existing output"},

    {.name = "event",
     .argument = "GLOB",
     .help = "only samples of these events; of several, folded lines are of the first"},
    {.name = "comm",
     .argument = "GLOB",
     .help = "only samples of threads called so: 'nginx*,java'"},
    {.name = "pid", .argument = "PID", .help = "only samples of these processes: 12,13"},
    {.name = "tid", .argument = "TID", .help = "only samples of these threads"},
    {.name = "cpu", .letter = 'C', .argument = "CPU", .help = "only samples of these CPUs: 0-3,8"},
    {.name = "cgroup", .argument = "GLOB", .help = "only samples of these control groups"},
    {.name = "dso",
     .argument = "GLOB",
     .help = "only samples whose innermost frame is in these files: 'libc*'; a path where there is "
             "a / in it"},
    {.name = "symbol",
     .argument = "GLOB",
     .help = "only samples whose innermost frame is in these functions"},
    {.name = "time",
     .argument = "FROM,TO",
     .help = "only samples between these, in seconds since the first sample or as perf script "
             "prints them, or in percent of the recording: 10%,20%"},
    {.name = "focus",
     .argument = "REGEX",
     .help = "only samples with a frame whose function, source or binary matches, as in pprof"},
    {.name = "ignore", .argument = "REGEX", .help = "no samples with such a frame"},
    {.name = "no-kernel", .help = "leave out the frames of the kernel"},
    {.name = "no-user", .help = "leave out the frames of programs"},
    {.name = "max-depth",
     .argument = "N",
     .help = "keep N frames of a stack, from the outermost; what they call counts as theirs"},
    {.name = "min-percent",
     .argument = "P",
     .help = "cut off frames that hold less of the total, with what they call; their callers hold "
             "it then"},

    {.name = "values",
     .argument = "KIND",
     .help = "what folded lines count: samples (default) or period",
     .completion = Completion::kChoice,
     .choices = "samples period"},
    {.name = "root",
     .argument = "KIND",
     .help = "what folded lines begin with, where it is known: comm (default), comm/pid, "
             "comm/pid/tid or none",
     .completion = Completion::kChoice,
     .choices = "comm comm/pid comm/pid/tid none"},
    {.name = "input-root",
     .argument = "KIND",
     .help = "the same of folded lines that are read: their first frame is a comm, not a function "
             "(default none)",
     .completion = Completion::kChoice,
     .choices = "comm comm/pid comm/pid/tid none"},
    {.name = "mark-kernel", .help = "put _[k] behind the names of kernel frames in folded lines"},
    {.name = "differential",
     .help = "folded lines have two counts, before and after, as difffolded.pl writes them"},
    {.name = "lenient", .help = "skip and count folded lines that have no count"},
    {.name = "labels",
     .argument = "LIST",
     .help = "label the samples of a pprof also with cpu, cgroup or both: cpu,cgroup"},
    {.name = "no-labels", .help = "label the samples of a pprof with no pid, tid and comm"},
    {.name = "no-gzip", .help = "write a pprof without compression"},
    {.name = "compress-level",
     .argument = "LEVEL",
     .help = "of a pprof's gzip: 1, the fastest, to 12, the smallest"},
    {.name = "symbol-dir",
     .argument = "DIR",
     .help = "put the user frames of a perf.data that is made from other formats into binaries of "
             "their own below DIR, for perf --buildid-dir DIR and hotspot",
     .completion = Completion::kFile},
    {.name = "no-symbols", .help = "look up no names: frames are [file] or [unknown]"},
};

constexpr cli::Option kOutputOptions[] = {
    {.name = "compression-level",
     .letter = 'z',
     .argument = "LEVEL",
     .help = "compress the records of a perf.data with zstd: 1, the fastest (default), to 22, the "
             "smallest; without it what was compressed is expanded",
     .argument_is_optional = true},
    {.name = "pipe",
     .help = "write a perf.data as the stream that perf record -o - writes, which is what stdout "
             "gets in any case"},
    {.name = "compat",
     .argument = "VERSION",
     .help = "leave out of a perf.data what that version of perf does not know: 6.1 or 6.12",
     .completion = Completion::kChoice,
     .choices = "6.1 6.12"},
    {.name = "threads",
     .letter = 'j',
     .argument = "N",
     .help = "threads that may work at once (default as many as there are CPUs); the output does "
             "not depend on it"},
    {.name = "json", .help = "tell what was read, kept and dropped as one JSON object on stdout"},
    {.name = "quiet", .letter = 'q', .help = "errors only"},
    {.name = "verbose",
     .letter = 'v',
     .help = "also each input, and the names found in each binary"},
};

constexpr auto kOptions = cli::Joined(kProfileOptions, cli::kSymbolOptions, kOutputOptions);

constexpr cli::Command kCommand = {
    .name = "perftape-convert",
    .purpose =
        "Convert perf.data, folded stacks and pprof into each other, several inputs into one, with "
        "names from saved symbols.",
    .operands = "[FILE...]",
    .options = kOptions,
    .epilogue =
        "Examples:\n"
        "  perftape-convert perf.data -o out.folded\n"
        "  perftape-convert perf.data -o out.pb.gz && go tool pprof -top out.pb.gz\n"
        "  perftape-convert out.folded -o perf.data && perf report\n"
        "  perftape-convert host1.data host2.data old.pb.gz -o all.pb.gz\n"
        "  perftape-convert perf.data --comm 'nginx*' --time 10%,20% -o peak.folded\n"
        "  perftape-record -o - -a --duration 5 | perftape-convert - --to folded\n"
        "  perftape-convert new.data -o old.data --compat 6.1 && perf report -i old.data\n"
        "Exit status: 0 done, 1 failed, 2 usage, 3 done but an input was damaged.\n"};

}  // namespace

const cli::Command& ConvertCommand() {
  return kCommand;
}

}  // namespace perftape::convert_tool
