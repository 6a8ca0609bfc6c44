// SPDX-License-Identifier: Apache-2.0
#include "tools/record/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "formats/base/file.h"
#include "record/processes/executable.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/values.h"

namespace perftape::record_tool {
namespace {

using cli::Completion;

constexpr cli::Option kOptions[] = {
    {.name = "event",
     .letter = 'e',
     .argument = "EVENT",
     .help = "what is sampled: cpu-clock, time on a CPU (default)",
     .completion = Completion::kChoice,
     .choices = "cpu-clock"},
    {.name = "freq",
     .letter = 'F',
     .argument = "HZ",
     .help = "samples a second on each CPU, or max for as many as the kernel allows (default 99)"},
    {.name = "count",
     .letter = 'c',
     .argument = "PERIOD",
     .help = "a sample every PERIOD nanoseconds of CPU time, instead of -F"},
    {.name = "all-cpus",
     .letter = 'a',
     .help = "the whole system (default where no other target is given)"},
    {.name = "pid",
     .letter = 'p',
     .argument = "PID[,PID...]",
     .help = "these processes and all that they start",
     .completion = Completion::kProcess},
    {.name = "tid",
     .letter = 't',
     .argument = "TID[,TID...]",
     .help = "these threads alone",
     .completion = Completion::kProcess},
    {.name = "cpu", .letter = 'C', .argument = "CPUS", .help = "only on these CPUs, as 0-3,8"},
    {.name = "uid",
     .letter = 'u',
     .argument = "USER",
     .help = "only tasks of this user, by name or number",
     .completion = Completion::kUser},
    {.name = "duration",
     .argument = "SECONDS",
     .help = "end after this time; fractions are allowed"},
    {.letter = 'g', .help = "call chains, of kernel and user, by frame pointers (default)"},
    {.name = "call-graph",
     .argument = "METHOD",
     .help = "how call chains are found: fp, by frame pointers",
     .completion = Completion::kChoice,
     .choices = "fp"},
    {.name = "clockid",
     .letter = 'k',
     .argument = "CLOCK",
     .help = "whose time the samples have: mono, CLOCK_MONOTONIC (default)",
     .completion = Completion::kChoice,
     .choices = "mono"},
    {.name = "no-callgraph", .help = "no call chains, only where each sample hit"},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "the recording (default perf.data); an existing one is kept as FILE.old; - writes "
             "perf's pipe format to stdout",
     .completion = Completion::kFile},
    {.name = "mmap-pages",
     .letter = 'm',
     .argument = "PAGES",
     .help = "the ring buffer that samples wait in, in pages or as a size with B, K, M or G; "
             "rounded up to a power of two (default 8M)"},
    {.name = "compression-level",
     .letter = 'z',
     .argument = "LEVEL",
     .help = "compress the recording with zstd, as perf record -z does: 1, the fastest (default), "
             "to 22, the smallest",
     .argument_is_optional = true},
    {.name = "bundle",
     .argument = "FILE",
     .help = "put the symbols of what was hit into FILE, instead of behind the recording; an "
             "existing one is kept as FILE.old. With -o - the only way to have them",
     .completion = Completion::kFile},
    {.name = "no-bundle", .help = "keep no symbols"},
    {.name = "bundle-debug", .help = "keep debug information (DWARF), too, where it is found"},
    {.name = "bundle-full",
     .help = "keep whole binaries, not their symbol and unwind tables alone"},
    {.name = "include-self", .help = "record the recorder, too"},
    {.name = "quiet", .letter = 'q', .help = "errors only"},
    {.name = "verbose", .letter = 'v', .help = "also what libbpf says while loading"},
};

// perf record's, mostly.
constexpr cli::ForeignOption kForeign[] = {
    {.name = "time", .instead = "--duration SECONDS ends the recording after a time"},
    {.name = "cgroup",
     .letter = 'G',
     .instead = "recording a control group is not supported; -p with the pids in its "
                "cgroup.procs records these processes and all that they start"},
    {.name = "delay",
     .letter = 'D',
     .instead = "a delayed start is not supported; start perftape-record later with -p PID, or "
                "drop the beginning with 'perftape-convert --time FROM,TO'"},
    {.name = "no-inherit",
     .letter = 'i',
     .instead = "children of a process are always followed; -t TID records single threads"},
    {.name = "all-kernel",
     .instead = "both kernel and user are recorded; 'perftape-convert --no-user' leaves one out"},
    {.name = "all-user",
     .instead = "both kernel and user are recorded; 'perftape-convert --no-kernel' leaves one out"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-record",
    .purpose =
        "Record where programs spend their time, with eBPF, into a perf.data that perf "
        "report opens. The recording ends with COMMAND, after --duration, or by Ctrl-C.",
    .operands = "[[--] COMMAND [ARGUMENT...]]",
    .options = kOptions,
    .order = cli::Order::kOptionsFirst,
    .operand_completion = Completion::kCommand,
    .epilogue =
        "Examples:\n"
        "  perftape-record -- make -j8            the command and all that it starts\n"
        "  perftape-record -a --duration 5        the whole system, five seconds\n"
        "  perftape-record -p 4711 -F 999         a running process, until Ctrl-C\n"
        "  perftape-record -z -o small.data -a    the whole system, several times smaller\n"
        "  perftape-record -o - -a | perf report --stdio -i -\n"
        "Exit status: COMMAND's where one ran, 126 or 127 where it could not be run; else\n"
        "0 done, 1 failed, 2 usage, 3 done but more than 5 % of the samples were lost, or\n"
        "the symbols could not be kept.\n",
    .foreign = kForeign};

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// kernel.perf_event_max_sample_rate; nothing where it cannot be read.
std::optional<std::uint64_t> HighestFrequency() {
  const Result<std::string> text = ReadWholeFile("/proc/sys/kernel/perf_event_max_sample_rate");
  std::uint64_t hz = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), hz);
  if (error != std::errc{} || hz == 0) return std::nullopt;
  return hz;
}

Result<record::SamplingRate> RateOf(const cli::Parsed& parsed) {
  if (const auto period = parsed.Value("count")) {
    if (parsed.Has("freq")) return Usage("-F and -c: one of them");
    // The kernel's event counts nanoseconds; below a microsecond it does nothing but sample.
    // Beyond 2^63 it refuses them (perf_event_open in kernel/events/core.c).
    TRY_ASSIGN(const std::uint64_t count,
               cli::ParseNumber("-c", *period, {.smallest = 1000, .largest = INT64_MAX}));
    return record::Period{count};
  }
  const std::string_view text = parsed.Value("freq").value_or("99");
  const std::optional<std::uint64_t> highest = HighestFrequency();
  if (text == "max") {
    if (!highest) return Usage("-F max: kernel.perf_event_max_sample_rate cannot be read");
    return record::Frequency{*highest};
  }
  TRY_ASSIGN(const std::uint64_t hz, cli::ParseNumber("-F", text, {.smallest = 1}));
  if (highest && hz > *highest) {
    return Usage(fmt::format(
        "-F: {} is above the limit of this kernel, {} (kernel.perf_event_max_sample_rate); "
        "-F max takes that",
        hz, *highest));
  }
  return record::Frequency{hz};
}

Result<std::vector<pid_t>> IdsOf(const cli::Parsed& parsed, std::string_view key,
                                 std::string_view letter) {
  std::vector<pid_t> all;
  for (const std::string_view value : parsed.Values(key)) {
    TRY_ASSIGN(const std::vector<pid_t> ids, cli::ParseIdList(letter, value));
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

// A command is the target only where nothing else is: `-a -- sleep 5` and `-p 7 -- sleep 5` record
// the others for as long as it runs, as perf does; so does -u.
Result<record::Target> TargetOf(const cli::Parsed& parsed) {
  if (parsed.Has("all-cpus") + parsed.Has("pid") + parsed.Has("tid") > 1) {
    return Usage("-a, -p and -t: one of them");
  }
  if (parsed.Has("pid")) {
    TRY_ASSIGN(std::vector<pid_t> pids, IdsOf(parsed, "pid", "-p"));
    return record::ProcessTrees{std::move(pids)};
  }
  if (parsed.Has("tid")) {
    TRY_ASSIGN(std::vector<pid_t> tids, IdsOf(parsed, "tid", "-t"));
    return record::Threads{std::move(tids)};
  }
  const bool is_whole = parsed.Has("all-cpus") || parsed.Has("uid") || parsed.operands().empty();
  if (is_whole) return record::WholeSystem{};
  return record::Workload{};
}

// perf's syntax: events with commas between them, each with modifiers behind a colon.
Status CheckEvents(const cli::Parsed& parsed) {
  for (const std::string_view event : parsed.Values("event")) {
    if (event == "cpu-clock") continue;
    return Usage(
        fmt::format("-e: '{}' is not supported; the only event is cpu-clock, of user and kernel. "
                    "'perf record -e "
                    "EVENT -g' records others, and all tools here read its recordings",
                    cli::EscapeForTerminal(event)));
  }
  return {};
}

// By name or number, as perf takes it.
Status CheckClock(const cli::Parsed& parsed) {
  constexpr std::string_view kMonotonic[] = {"mono", "monotonic", "CLOCK_MONOTONIC", "1"};
  const std::optional<std::string_view> clock = parsed.Value("clockid");
  if (!clock || std::ranges::find(kMonotonic, *clock) != std::end(kMonotonic)) return {};
  return Usage(fmt::format(
      "-k: '{}' is not supported; times are always of CLOCK_MONOTONIC (mono), and the feature "
      "CLOCK_DATA maps them to wall time",
      cli::EscapeForTerminal(*clock)));
}

Result<record::Callchains> CallchainsOf(const cli::Parsed& parsed) {
  const std::optional<std::string_view> method = parsed.Value("call-graph");
  if (method && *method != "fp") {
    return Usage(fmt::format(
        "--call-graph: '{}' is not supported; call chains follow frame pointers (fp). Programs "
        "without them need -fno-omit-frame-pointer, or 'perf record --call-graph dwarf'",
        cli::EscapeForTerminal(*method)));
  }
  if (!parsed.Has("no-callgraph")) return record::Callchains::kFramePointers;
  if (method || parsed.Has("g")) return Usage("--no-callgraph and -g: one of them");
  return record::Callchains::kNone;
}

Result<record::BundleRequest> BundleOf(const cli::Parsed& parsed) {
  using Destination = record::BundleRequest::Destination;
  record::BundleRequest request;
  const bool is_deep = parsed.Has("bundle-debug") || parsed.Has("bundle-full");
  if (parsed.Has("no-bundle")) {
    if (parsed.Has("bundle") || is_deep) return Usage("--no-bundle and other --bundle options");
    request.destination = Destination::kNone;
    return request;
  }
  if (parsed.Has("bundle-debug") && parsed.Has("bundle-full")) {
    return Usage("--bundle-debug and --bundle-full: one of them");
  }
  if (parsed.Has("bundle-debug")) request.depth = record::BundleDepth::kDebug;
  if (parsed.Has("bundle-full")) request.depth = record::BundleDepth::kWhole;
  if (const auto file = parsed.Value("bundle")) {
    if (file->empty() || *file == "-") return Usage("--bundle: needs the name of a file");
    request.destination = Destination::kSeparateFile;
    request.file = *file;
  }
  return request;
}

// perf's notation: a bare number counts pages.
Result<std::size_t> RingBytesOf(std::string_view text) {
  constexpr std::string_view kUnits = "BKMG";
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;  // the kernel's own limit is 4G - 1
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t unit = page;
  std::string_view digits = text;
  if (!text.empty() && kUnits.contains(text.back())) {
    unit = std::uint64_t{1} << (10 * kUnits.find(text.back()));
    digits.remove_suffix(1);
  }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return Usage(fmt::format("-m: '{}' is no number of pages, nor a size with B, K, M or G",
                             cli::EscapeForTerminal(text)));
  }
  const Result<std::uint64_t> count =
      cli::ParseNumber("-m", digits, {.smallest = 1, .largest = kLargest / unit});
  if (!count && digits.find_first_not_of('0') != std::string_view::npos) {
    return Usage(fmt::format("-m: {} is more than a ring buffer can have: 1G, {} pages", text,
                             kLargest / page));
  }
  TRY(count);
  return std::bit_ceil(std::max(*count * unit, page));
}

// "-z 3 -- true": the level would be taken for the command.
Status CheckLevelApart(const cli::Parsed& parsed) {
  const std::optional<std::string_view> level = parsed.Value("compression-level");
  if (!level || !level->empty() || parsed.operands().empty()) return {};
  const std::string& command = parsed.operands().front();
  if (!cli::ParseCompressionLevel("-z", command) || record::FindExecutable(command)) return {};
  return Usage(fmt::format("-z {}: write the level in the same word: -z{}", command, command));
}

}  // namespace

const cli::Command& RecordCommand() {
  return kCommand;
}

Result<record::RecordOptions> PlanOf(const cli::Parsed& parsed) {
  record::RecordOptions options;
  TRY(CheckEvents(parsed));
  TRY(CheckClock(parsed));
  TRY_ASSIGN(options.rate, RateOf(parsed));
  TRY_ASSIGN(options.target, TargetOf(parsed));
  TRY_ASSIGN(options.callchains, CallchainsOf(parsed));
  options.command = parsed.operands();
  if (const auto cpus = parsed.Value("cpu")) {
    TRY_ASSIGN(options.cpus, cli::ParseCpuList("-C", *cpus));
  }
  if (const auto user = parsed.Value("uid")) {
    TRY_ASSIGN(options.user, cli::ParseUser("-u", *user));
  }
  if (const auto duration = parsed.Value("duration")) {
    TRY_ASSIGN(options.duration, cli::ParseSeconds("--duration", *duration));
  }
  if (const auto output = parsed.Value("output")) {
    if (output->empty()) return Usage("-o: the name is empty");
    options.output = cli::OutputNamed(*output);
  }
  if (const auto pages = parsed.Value("mmap-pages")) {
    TRY_ASSIGN(options.ring_bytes, RingBytesOf(*pages));
  }
  TRY(CheckLevelApart(parsed));
  if (const auto level = parsed.Value("compression-level")) {
    TRY_ASSIGN(options.compression_level, cli::ParseCompressionLevel("-z", *level));
  }
  TRY_ASSIGN(options.bundle, BundleOf(parsed));
  if (options.bundle.file == options.output) return Usage("--bundle: the same file as -o");
  const bool is_behind =
      options.bundle.destination == record::BundleRequest::Destination::kRecording;
  if (options.output == "-" && is_behind && options.bundle.depth != record::BundleDepth::kSymbols) {
    return Usage("-o -: a pipe carries no bundle; --bundle FILE says where to put it");
  }
  if (parsed.Has("include-self")) options.include_self = record::IncludeSelf::kYes;
  return options;
}

}  // namespace perftape::record_tool
