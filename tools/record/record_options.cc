// SPDX-License-Identifier: Apache-2.0
// The table of perftape-record's options.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "tools/common/cli/escape.h"
#include "tools/common/cli/rows.h"
#include "tools/common/recording/recording_options.h"
#include "tools/record/command_line.h"
#include "tools/record/control_options.h"
#include "tools/record/file_values.h"
#include "tools/record/perf_rows.h"

namespace perftape::record_tool {
namespace {

using cli::Completion;
using record::BundleRequest;
using record::InputOptions;
using record::OutputOptions;
using record::RecordOptions;
using record::RetentionLimits;
using record::ScopeOptions;

std::unexpected<Error> WrongValue(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<record::SamplingRate> ParsePeriod(std::string_view option, std::string_view text) {
  // perf_event_open rejects a period above 2^63 (kernel/events/core.c).
  TRY_ASSIGN(const std::uint64_t count,
             cli::ParseNumber(option, text, {.smallest = 1, .largest = INT64_MAX}));
  return record::Period{count};
}

// The values of perf's -k.
constexpr std::string_view kMonotonic[] = {"mono", "CLOCK_MONOTONIC", "monotonic", "1"};

std::vector<cli::Offer> Clocks() {
  return {{.word = std::string(kMonotonic[0])}};
}

Result<std::string> ParseClock(std::string_view option, std::string_view text) {
  if (std::ranges::find(kMonotonic, text) != std::end(kMonotonic)) return std::string(text);
  return WrongValue(fmt::format(
      "{}: clock '{}' is not supported: timestamps are always of CLOCK_MONOTONIC (mono), and the "
      "feature CLOCK_DATA maps them to wall time",
      option, cli::EscapeForTerminal(text)));
}

// At most a million entries of a map.
Result<std::size_t> ParseEntries(std::string_view option, std::string_view text) {
  TRY_ASSIGN(const std::uint64_t number,
             cli::ParseNumber(option, text, {.smallest = 1, .largest = 1 << 20}));
  return static_cast<std::size_t>(number);
}

Result<std::filesystem::path> ParseBundleFile(std::string_view option, std::string_view text) {
  if (text.empty() || text == "-")
    return WrongValue(fmt::format("{}: needs the name of a file", option));
  return std::filesystem::path(text);
}

// As in perf, a number without a unit counts pages.
Result<std::size_t> ParseRingSize(std::string_view option, std::string_view text) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;  // the kernel's limit is 4G - 1
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  TRY_ASSIGN(const std::uint64_t bytes,
             cli::ParseSizeWith(option, text,
                                {.largest = kLargest, .bare_unit = page, .bare_units = "pages"}));
  return std::bit_ceil(std::max(bytes, page));
}

Result<CompressionLevel> ParseLevel(std::string_view option, std::string_view text) {
  TRY_ASSIGN(const int level, cli::ParseCompressionLevel(option, text));
  return CompressionLevel{.value = level, .is_left_out = text.empty()};
}

constexpr std::uint64_t kLeastUnwindMemory = std::uint64_t{4} << 10;
constexpr std::uint64_t kMostUnwindMemory = std::uint64_t{1} << 30;
constexpr std::uint64_t kLeastFlightMemory = std::uint64_t{1} << 20;

constexpr cli::Option kWaitAndLatencyRows[] = {
    {.name = "why",
     .help =
         "record what 'perftape-report --path' needs to show why something was slow: the same "
         "as -e cpu-clock,offcpu --wakers -F 999 --off-cpu-threshold 100us; other events, rates "
         "and thresholds can be given",
     .conflicts = "cpu no-callgraph aggregate allow-missing-events",
     .into = cli::Set<&Plan::why>},
    {.name = "wakers",
     .help = "with -e offcpu, also record what ends each wait, as event wakeup",
     .is_rare = true,
     .into = cli::Set<&Plan::wakers>},
    {.name = "interval",
     .argument = "TIME",
     .help = "with -e latency, print a table of the calls of each probe to stderr every TIME (1s); "
             "with --json, print a line of JSON instead",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseDuration, &Plan::record, &RecordOptions::latency_interval>},
    {.name = "latency-histograms",
     .argument = "N",
     .help = "with -e latency, keep at most N histograms in the kernel, of 1.6 KB each (default "
             "16384)",
     .is_rare = true,
     .into = cli::StoreAs<&ParseEntries, &Plan::record, &RecordOptions::input,
                          &InputOptions::latency_histograms>},
    {.name = "latency-in-progress",
     .argument = "N",
     .help = "with -e latency, follow at most N connections, N DNS queries and N requests to "
             "disks, of 2.5 KB each (default 16384)",
     .is_rare = true,
     .into = cli::StoreAs<&ParseEntries, &Plan::record, &RecordOptions::input,
                          &InputOptions::latency_in_progress>},
};

constexpr cli::Option kTargetRows[] = {
    {.name = "all-cpus",
     .letter = 'a',
     .help = "record the whole system (default without another target)",
     .conflicts = "pid tid",
     .into = cli::Set<&Plan::all_cpus>,
     .verdict = cli::Verdict::kDone},
    {.name = "pid",
     .letter = 'p',
     .argument = "PID[,PID...]",
     .help = "record these processes and every process that they start",
     .completion = Completion::kProcess,
     .conflicts = "tid",
     .into = cli::StoreAs<&cli::ParseIdList, &Plan::pids>,
     .verdict = cli::Verdict::kDone},
    {.name = "tid",
     .letter = 't',
     .argument = "TID[,TID...]",
     .help = "record only these threads",
     .completion = Completion::kProcess,
     .into = cli::StoreAs<&cli::ParseIdList, &Plan::tids>,
     .verdict = cli::Verdict::kDone},
};

constexpr cli::Option kTaskRows[] = {
    {.name = "all-cgroups",
     .help = "record the cgroup of each sample, for 'perf report --sort cgroup'; the default with "
             "--cgroup, --container and --pod",
     .is_rare = true,
     .into = cli::Set<&Plan::record, &RecordOptions::input, &InputOptions::scope,
                      &ScopeOptions::all_cgroups>,
     .verdict = cli::Verdict::kDone},
    {.name = "cgroup-usage",
     .help = "record limits and usage of the cgroups of recorded processes, for 'perftape-report "
             "--diagnose'",
     .is_rare = true,
     .into = cli::Set<&Plan::record, &RecordOptions::cgroup_usage>},
    {.name = "namespaces",
     .help = "record the namespaces of processes, for 'perf report --sort cgroup_id'",
     .is_rare = true,
     .into = cli::Set<&Plan::record, &RecordOptions::input, &InputOptions::scope,
                      &ScopeOptions::namespaces>,
     .verdict = cli::Verdict::kDone},
    {.name = "include-self",
     .help = "also record the recorder",
     .is_rare = true,
     .into = cli::SetTo<record::IncludeSelf::kYes, &Plan::record, &RecordOptions::input,
                        &InputOptions::include_self>},
};

constexpr cli::Choice<record::SamplerRequest> kSamplers[] = {
    {"auto", record::SamplerRequest::kAuto, "default: bpf where it works"},
    {"bpf", record::SamplerRequest::kPrograms, "BPF programs"},
    {"kernel", record::SamplerRequest::kKernel, "perf events without BPF programs, as perf"},
};

constexpr std::string_view kDefaultRate = "(default 99)";  // InputOptions::rate

constexpr cli::Option kRateRows[] = {
    {.name = "count",
     .letter = 'c',
     .argument = "PERIOD",
     .help = "record one sample every PERIOD of an event, instead of -F; clocks count nanoseconds, "
             "minimum 1000",
     .conflicts = "freq",
     .into = cli::StoreAs<&ParsePeriod, &Plan::rate>,
     .verdict = cli::Verdict::kDone},
    {.name = "duration",
     .argument = "TIME",
     .help = "end the recording after TIME: seconds, or a number with a unit: 500ms, 10m, 1h",
     .into = cli::StoreAs<&cli::ParseDuration, &Plan::record, &RecordOptions::duration>},
    {.letter = 'g',
     .help =
         "record call chains of kernel and user code by --call-graph's default method (default)",
     .into = cli::SetTo<record::Callchains::kFramePointers, &Plan::record, &RecordOptions::input,
                        &InputOptions::callchains>,
     .verdict = cli::Verdict::kDone,
     .reason = "the default"},
    {.name = "no-callgraph",
     .help = "record no call chains, only the address of each sample",
     .conflicts = "g call-graph",
     .is_rare = true,
     .into = cli::SetTo<record::Callchains::kNone, &Plan::record, &RecordOptions::input,
                        &InputOptions::callchains>},
    {.name = "sampler",
     .argument = "SAMPLER",
     .help = "choose who takes the samples: {choices}",
     .is_rare = true,
     .into = cli::StoreChoice<kSamplers, &Plan::sampler>},
    {.name = "unwind-memory",
     .argument = "SIZE",
     .help = "limit the memory for unwind tables (--call-graph eh), 4K to 1G (default 32M)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseSizeIn<kLeastUnwindMemory, kMostUnwindMemory>, &Plan::record,
                          &RecordOptions::input, &InputOptions::unwind_bytes>},
    {.name = "aggregate",
     .argument = "TIME",
     .help =
         "merge equal samples within each TIME (1, 100ms) into one, with the sum of their periods",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseDuration, &Plan::record, &RecordOptions::output,
                          &OutputOptions::aggregate>},
    {.name = "mmap-pages",
     .letter = 'm',
     .argument = "PAGES",
     .help = "set the size of the ring buffer, in pages or with a unit (16M); rounded up to a "
             "power of two (default: by the number of CPUs and the rate)",
     .is_rare = true,
     .into = cli::StoreAs<&ParseRingSize, &Plan::record, &RecordOptions::input,
                          &InputOptions::ring_bytes>,
     .verdict = cli::Verdict::kDone,
     .reason = "one ring for all CPUs, or a few"},
    {.name = "clockid",
     .letter = 'k',
     .argument = "CLOCK",
     .help = "select the clock of timestamps; the only CLOCK is {choices}, CLOCK_MONOTONIC "
             "(default)",
     .is_rare = true,
     .into = cli::StoreOffered<&ParseClock, &Clocks, &Plan::clock>,
     .verdict = cli::Verdict::kDone,
     .reason = "only mono, which is the default"},
};

constexpr cli::Option kOutputRows[] = {
    cli::AsInPerf(cli::OutputRow(
        "write the recording to FILE (default perf.data); an existing file is renamed "
        "to FILE.old; - is stdout, in perf's pipe format",
        cli::StoreAs<&cli::ParseOutput, &Plan::record, &RecordOptions::output,
                     &OutputOptions::file>)),
    cli::AsInPerf(
        cli::CompressionRow("compress the recording with zstd, as perf record -z does; LEVEL is 1 "
                            "(fastest, default) to 22 (smallest)",
                            cli::StoreAs<&ParseLevel, &Plan::compression>)),
    {.name = "json",
     .argument = "FILE",
     .help = "also write the summary to FILE, as one JSON object; - is stdout",
     .completion = Completion::kFile,
     .into = cli::StoreAs<&cli::ParseOutput, &Plan::json_file>},
    {.name = "max-loss",
     .argument = "PERCENT",
     .help = "exit with status 3 if more than PERCENT of the samples are lost, even if COMMAND "
             "succeeded (default 5, only without COMMAND)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParsePercent, &Plan::max_loss>},
    {.name = "reserve-space",
     .argument = "SIZE",
     .help =
         "leave SIZE (2G) of the disk free: end the recording in time, or with --switch-output or "
         "--flight delete its oldest files",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseSize, &Plan::record, &RecordOptions::output,
                          &OutputOptions::reserved_space>},
    {.name = "sync",
     .help =
         "wait at each flush until the records are on the disk, so that they survive a power cut",
     .is_rare = true,
     .into = cli::SetTo<true, &Plan::record, &RecordOptions::output, &OutputOptions::sync>},
};

constexpr cli::Option kFileRows[] = {
    {.name = "switch-output",
     .argument = "MODE",
     .help = "begin a new file at this size (100M), after this time (1h) or, without MODE, on "
             "SIGUSR2; in the name of -o, %t is the time, %n a number and %h the host; default "
             "FILE.%t",
     .argument_is_optional = true,
     .conflicts = "bundle",
     .into = cli::StoreAs<&ParseSwitchMode, &Plan::switch_output>,
     .verdict = cli::Verdict::kDone},
    {.name = "keep-files",
     .argument = "N",
     .help = "with --switch-output or --flight, keep the newest N files of this name",
     .into = cli::StoreAs<&ParseFileCount, &Plan::keep, &RetentionLimits::files>},
    {.name = "flight",
     .argument = "TIME",
     .help = "keep the last TIME (30, 500ms, 5m) in memory and write it to a file on SIGUSR2, on a "
             "--trigger and at the end; the name of -o is as with --switch-output",
     .conflicts = "switch-output bundle aggregate",
     .into = cli::StoreAs<&cli::ParseDuration, &Plan::flight>},
    {.name = "trigger",
     .argument = "CONDITION",
     .help = "with --flight, write a file on 'psi:cpu some 20%/1s' (also memory, io, full), "
             "'offcpu>500ms', EVENT, 'EVENT>100/s' or 'cpu>80%/5s'; can be given several times",
     .into = cli::StoreAs<&ParseTriggerOption, &Plan::triggers>},
    {.name = "keep-bytes",
     .argument = "SIZE",
     .help = "with --switch-output or --flight, keep the newest files, at most SIZE (20G) in total",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseSize, &Plan::keep, &RetentionLimits::bytes>},
    {.name = "keep-age",
     .argument = "TIME",
     .help = "with --switch-output or --flight, delete files older than TIME: 90s, 30m, 12h, 7d",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseDuration, &Plan::keep, &RetentionLimits::age>},
    {.name = "exec-on-switch",
     .argument = "COMMAND",
     .help =
         "with --switch-output or --flight, run COMMAND in a shell for each finished file, with "
         "its name as an argument",
     .is_rare = true,
     .into = cli::StoreAs<&ParseShellCommand, &Plan::exec_on_switch>},
    {.name = "flight-memory",
     .argument = "SIZE",
     .help =
         "with --flight, keep at most SIZE of records, at least 1M; the oldest are dropped first "
         "(default 256M)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseSizeIn<kLeastFlightMemory, cli::kLargestSize>,
                          &Plan::flight_memory>},
    {.name = "cooldown",
     .argument = "TIME",
     .help = "with --flight, ignore triggers for TIME after a file: 30s, 10m, 1h (default the TIME "
             "of --flight)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseDuration, &Plan::cooldown>},
};

constexpr cli::Option kBundleRows[] = {
    {.name = "bundle-debug",
     .help = "also put debug information (DWARF) into the bundle",
     .conflicts = "bundle-full",
     .into = cli::SetTo<record::BundleDepth::kDebug, &Plan::record, &RecordOptions::output,
                        &OutputOptions::bundle, &BundleRequest::depth>},
    {.name = "no-bundle",
     .help = "write no bundle of symbols",
     .conflicts = "bundle bundle-debug bundle-full",
     .into = cli::SetTo<BundleRequest::Destination::kNone, &Plan::record, &RecordOptions::output,
                        &OutputOptions::bundle, &BundleRequest::destination>},
    {.name = "bundle",
     .argument = "FILE",
     .help = "write the bundle of symbols to FILE instead of into the recording; an existing file "
             "is renamed to FILE.old",
     .completion = Completion::kFile,
     .is_rare = true,
     .into = cli::StoreAs<&ParseBundleFile, &Plan::record, &RecordOptions::output,
                          &OutputOptions::bundle, &BundleRequest::file>},
    {.name = "bundle-full",
     .help = "put whole binaries into the bundle, including their code",
     .is_rare = true,
     .into = cli::SetTo<record::BundleDepth::kWhole, &Plan::record, &RecordOptions::output,
                        &OutputOptions::bundle, &BundleRequest::depth>},
};

constexpr cli::Option kOtherRows[] = {
    cli::AsInPerf(cli::QuietRow()),
    cli::AsInPerf(cli::VerboseRow("also print the messages of libbpf while it loads programs")),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

constexpr auto kOptions = cli::Table(
    cli::InGroup(cli::Group::kEvents, recording::kEventRows),
    cli::InGroup(cli::Group::kEvents, kWaitAndLatencyRows),
    cli::InGroup(cli::Group::kTargets, kTargetRows),
    cli::InGroup(cli::Group::kTargets, recording::kScopeRows),
    cli::InGroup(cli::Group::kTargets, kTaskRows),
    cli::InGroup(cli::Group::kSampling,
                 recording::kSamplingRows<kDefaultRate, &recording::CallGraphs>),
    cli::InGroup(cli::Group::kSampling, kRateRows),
    cli::InGroup(cli::Group::kSampling, kControlRows),
    cli::InGroup(cli::Group::kOutput, kOutputRows), cli::InGroup(cli::Group::kFiles, kFileRows),
    cli::InGroup(cli::Group::kSymbols, kBundleRows), cli::InGroup(cli::Group::kOther, kOtherRows),
    cli::OfPerf(cli::Verdict::kDone, kDonePerfRows),
    cli::OfPerf(cli::Verdict::kAlreadySo, kAlreadySoPerfRows),
    cli::OfPerf(cli::Verdict::kRefused, kRefusedPerfRows));

constexpr cli::ForeignOption kForeign[] = {
    {.name = "time", .instead = "--duration TIME ends the recording after TIME"},
};

constexpr cli::Verb kVerbs[] = {
    {"list", "print the events that can be recorded here", &ListCommand},
    {"doctor", "check what can be recorded here", &doctor_tool::DoctorVerbCommand},
};

constexpr cli::Example kExamples[] = {
    {"perftape-record -- make -j8", "a command and all that it starts"},
    {"perftape-record -a --duration 5", "the whole system, for five seconds"},
    {"perftape-record -p 4711 -F 999", "a running process, until Ctrl-C"},
    {"perftape-record -e cpu-clock,offcpu -p 4711", "where it uses CPU time and where it waits"},
    {"perftape-record --why -p 4711 --duration 10", "what 'perftape-report --path' needs"},
    {"perftape-record -e cpu-clock,page-faults -- make", "CPU time and page faults"},
    {"perftape-record -e 'sched:sched_process_*' -a --duration 5", "programs that start and end"},
    {"perftape-record list 'sched:*'", "print the events of this machine"},
    {"perftape-record -z -o small.data -a", "the whole system, several times smaller"},
    {"perftape-record -a --switch-output=10m --keep-files 6", "the last hour, until Ctrl-C"},
    {"perftape-record -a --flight 30 --trigger 'cpu>90%/5s'", "the half minute before a peak"},
    {"perftape-record -o - -a --duration 5 | perf report --stdio -i -", "into a pipe"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-record",
    .purpose =
        "Record where programs spend their time, and other events, with eBPF, into a perf.data "
        "that perf report opens. The recording ends when COMMAND ends, after --duration, or with "
        "Ctrl-C.",
    .operands = "[[--] COMMAND [ARGUMENT...]]",
    .options = kOptions,
    .order = cli::Order::kOptionsFirst,
    .operand_completion = Completion::kCommand,
    .examples = kExamples,
    .epilogue =
        "Exit status: that of COMMAND if it ended by itself, 126 or 127 if it could not\n"
        "run; otherwise 0 success, 1 failure, 2 wrong usage, 3 samples lost (--max-loss)\n"
        "or bundle not written.\n",
    .verbs = kVerbs,
    .verbs_are_optional = true,
    .foreign = kForeign,
    .habits = cli::Habits::kPerf,
    .libraries = &doctor_tool::RecorderLibraries,
    .kernel_features = &doctor_tool::KernelFeatures,
};

}  // namespace

const cli::Command& RecordCommand() {
  return kCommand;
}

}  // namespace perftape::record_tool
