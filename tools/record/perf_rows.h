// SPDX-License-Identifier: Apache-2.0
// The options of perf record (6.1 and 7.3) that have no row of their own in record_options.cc:
// other names of what the recorder does, those that ask for what it does anyway, and those that it
// cannot do, with the reason.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"
#include "tools/common/cli/values.h"
#include "tools/common/recording/recording_values.h"
#include "tools/record/command_line.h"
#include "tools/record/file_values.h"

namespace perftape::record_tool {

// The only value of --synth is "all". Fails with kInvalidArgument for all others.
Result<std::string> ParseSynthesis(std::string_view option, std::string_view text);

// Of options that need fields of samples which BPF programs do not get.
inline constexpr std::string_view kOfKernelSamples =
    "samples are taken by BPF programs, which have no such field: use perf record, whose "
    "recordings all tools of perftape read";
inline constexpr std::string_view kOfAux =
    "AUX areas (Intel PT, CoreSight, SPE) are not recorded: use perf record";

inline constexpr cli::Option kDonePerfRows[] = {
    {.name = "no-buildid",
     .letter = 'B',
     .help = "read no build ids of binaries, and so write no bundle of symbols",
     .conflicts = "bundle bundle-debug bundle-full",
     .into = cli::Set<&Plan::no_build_ids>},
    {.name = "no-inherit",
     .letter = 'i',
     .help = "record only the threads that -p names or the first thread of COMMAND, not those that "
             "they start",
     .into = cli::Set<&Plan::no_inherit>},
    {.name = "realtime",
     .letter = 'r',
     .argument = "PRIORITY",
     .help = "read the samples with this priority of SCHED_FIFO, 1 to 99",
     .into = cli::StoreAs<&cli::ParseNumberIn<int, 1, 99>, &Plan::realtime>},
    {.name = "all-user",
     .help = "record all events only in user code, as EVENT:u does",
     .conflicts = "all-kernel",
     .into = cli::SetTo<OnlyModes::kUser, &Plan::only_modes>},
    {.name = "all-kernel",
     .help = "record all events only in the kernel, as EVENT:k does",
     .into = cli::SetTo<OnlyModes::kKernel, &Plan::only_modes>},
    {.name = "kernel-callchains",
     .help = "record only the kernel's part of call chains",
     .conflicts = "no-callgraph",
     .into = cli::Set<&Plan::kernel_callchains>},
    {.name = "no-call-graph",
     .help = "the same as --no-callgraph",
     .conflicts = "g call-graph",
     .into = cli::SetTo<record::Callchains::kNone, &Plan::record, &record::RecordOptions::input,
                        &record::InputOptions::callchains>},
    {.name = "data-mmap",
     .help = "also record mappings that are not executable",
     .into = cli::Set<&Plan::record, &record::RecordOptions::input,
                      &record::InputOptions::data_mappings>},
    {.name = "no-bpf-event",
     .help = "do not record which BPF programs are loaded and unloaded",
     .into = cli::SetTo<false, &Plan::record, &record::RecordOptions::input,
                        &record::InputOptions::bpf_events>},
    {.name = "off-cpu",
     .help = "also record waits: the same as -e cpu-clock,offcpu",
     .into = cli::Set<&Plan::off_cpu>,
     .reason = "as -e offcpu; shorter waits are summed up below 1 ms, not 500 ms"},
    {.name = "off-cpu-thresh",
     .argument = "TIME",
     .help = "the same as --off-cpu-threshold; a number is in ms",
     .conflicts = "off-cpu-threshold",
     .into = cli::StoreAs<&recording::ParseThreshold, &Plan::off_cpu_threshold>},
    {.name = "max-size",
     .argument = "SIZE",
     .help = "end the recording when its file has this size; the symbols come in addition",
     .conflicts = "switch-output flight",
     .into = cli::StoreAs<&cli::ParseSize, &Plan::record, &record::RecordOptions::max_file_bytes>,
     .reason = "the last quarter of a second, and the symbols, come in addition"},
    {.name = "switch-max-files",
     .argument = "N",
     .help = "the same as --keep-files",
     .conflicts = "keep-files",
     .into = cli::StoreAs<&ParseFileCount, &Plan::keep, &record::RetentionLimits::files>},
    {.name = "timestamp-filename",
     .help = "append the time to the name of the file, as --switch-output does",
     .conflicts = "flight bundle",
     .into = cli::Set<&Plan::timestamp_filename>},
    {.name = "no-buffering",
     .help = "write samples to the file at once, not four times a second",
     .into = cli::Set<&Plan::no_buffering>,
     .reason = "within 10 ms"},
    {.name = "synth",
     .argument = "RECORDS",
     .help = "select what is recorded of processes that run already: only all, the default",
     .into = cli::StoreAs<&ParseSynthesis, &Plan::synthesis>,
     .reason = "only all, which is the default"},
    {.name = "dry-run", .help = "check the options, and exit", .into = cli::Set<&Plan::dry_run>},
};

inline constexpr cli::Option kAlreadySoPerfRows[] = {
    {.name = "no-buildid-cache",
     .letter = 'N',
     .reason = "symbols go into the recording, and never to ~/.debug"},
    {.name = "period", .letter = 'P', .reason = "each sample has its period"},
    {.name = "timestamp", .letter = 'T', .reason = "each sample has its time"},
    {.name = "raw-samples",
     .letter = 'R',
     .reason = "each sample of a tracepoint has its fields; other events have no raw data"},
    {.name = "sample-cpu", .reason = "each sample has its CPU"},
    {.name = "sample-identifier", .reason = "each sample has the id of its event"},
    {.name = "timestamp-boundary",
     .reason = "the recording has the times of the first and the last sample"},
    {.name = "exclude-perf", .reason = "the recorder does not record itself; --include-self does"},
    {.name = "strict-freq", .reason = "-F above the kernel's limit is an error"},
    {.name = "num-thread-synthesize",
     .argument = "N",
     .reason = "one thread reads the processes that run already, while the samples wait"},
    {.name = "proc-map-timeout",
     .argument = "N",
     .reason = "the mappings of each process are read to their end"},
    {.name = "mmap-flush",
     .argument = "N",
     .reason = "the rings are emptied when they fill up, and else four times a second"},
    {.name = "clang-path", .argument = "FILE", .reason = "the BPF programs are compiled already"},
    {.name = "clang-opt", .argument = "OPTIONS", .reason = "the BPF programs are compiled already"},
    {.name = "vmlinux",
     .argument = "FILE",
     .reason = "the recording has the symbols of the running kernel; perftape-report --vmlinux "
               "reads others"},
};

inline constexpr cli::Option kRefusedPerfRows[] = {
    {.name = "branch-any", .letter = 'b', .reason = kOfKernelSamples},
    {.name = "branch-filter", .letter = 'j', .argument = "MASK", .reason = kOfKernelSamples},
    {.name = "data", .letter = 'd', .reason = kOfKernelSamples},
    {.name = "phys-data", .reason = kOfKernelSamples},
    {.name = "data-page-size", .reason = kOfKernelSamples},
    {.name = "code-page-size", .reason = kOfKernelSamples},
    {.name = "sample-mem-info", .reason = kOfKernelSamples},
    {.name = "weight", .letter = 'W', .reason = kOfKernelSamples},
    {.name = "transaction", .reason = kOfKernelSamples},
    {.name = "intr-regs",
     .letter = 'I',
     .argument = "REGISTERS",
     .argument_is_optional = true,
     .reason = "only --call-graph dwarf records registers, those of user code: use perf record -I"},
    {.name = "user-regs",
     .argument = "REGISTERS",
     .argument_is_optional = true,
     .reason = "registers are recorded with the stack: use --call-graph dwarf"},
    {.name = "user-callchains",
     .reason = "the kernel's frames are always recorded: remove them with 'perftape-convert "
               "--no-kernel', or record only user code with --all-user"},
    {.name = "no-samples",
     .letter = 'n',
     .reason = "a recording needs samples: perf stat counts without them"},
    {.name = "stat",
     .letter = 's',
     .reason = "counts of threads are not read; 'perftape-report --by tid' sums up the samples of "
               "each thread"},
    {.name = "running-time", .reason = "groups of counters are not recorded: use perf record"},
    {.name = "group",
     .reason = "groups of counters are not recorded; several -e record events beside each other"},
    {.name = "per-thread",
     .reason = "rings belong to CPUs; -t TID records single threads, and -i no new ones"},
    {.name = "switch-events",
     .reason = "--why records when threads run and why they wait, and -e sched:sched_switch each "
               "switch"},
    {.name = "latency", .reason = "record with --why, then use 'perftape-report --latency'"},
    {.name = "filter",
     .argument = "FILTER",
     .reason = "a condition belongs to its event: use -e 'SUBSYSTEM:NAME/if=FIELD==VALUE/'"},
    {.name = "setup-filter",
     .argument = "ACTION",
     .reason = "perf's BPF filters are not used; root or CAP_BPF with CAP_PERFMON record without "
               "such a preparation"},
    {.name = "overwrite",
     .reason = "--flight TIME keeps the last TIME in memory, and writes it on SIGUSR2"},
    {.name = "tail-synthesize",
     .reason = "the processes are recorded first, so that the file can be read at any time; each "
               "file of --flight has those of its time"},
    {.name = "switch-output-event",
     .argument = "EVENT",
     .reason = "--flight TIME --trigger EVENT writes a file at each EVENT; --switch-output begins "
               "one at a size, after a time or on SIGUSR2"},
    {.name = "threads",
     .argument = "SPEC",
     .argument_is_optional = true,
     .reason = "one thread writes one file; -m SIZE makes its ring larger"},
    {.name = "affinity",
     .argument = "NODE",
     .reason = "one thread reads the rings of all CPUs: start perftape-record by taskset or "
               "numactl"},
    {.name = "aio",
     .argument = "N",
     .argument_is_optional = true,
     .reason = "the ring holds the samples while the file is written; -m SIZE makes it larger"},
    {.name = "buildid-all",
     .reason = "build ids are read of binaries that samples hit: 'perftape-bundle create' reads "
               "them later, too"},
    {.name = "buildid-mmap", .reason = "build ids are in records of their own; -B omits them"},
    {.name = "debuginfod",
     .argument = "URLS",
     .argument_is_optional = true,
     .reason = "the recorder does not use the network: 'debuginfod-find debuginfo' fills "
               "debuginfod's cache, which perftape-symbolize reads"},
    {.name = "kcore",
     .reason = "the code of the kernel is not recorded, only its symbols: use perf record --kcore"},
    {.name = "snapshot",
     .letter = 'S',
     .argument = "OPTIONS",
     .argument_is_optional = true,
     .reason = kOfAux},
    {.name = "aux-sample", .argument = "OPTIONS", .argument_is_optional = true, .reason = kOfAux},
};

}  // namespace perftape::record_tool
