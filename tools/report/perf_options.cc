// SPDX-License-Identifier: Apache-2.0
#include "tools/report/perf_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "tools/common/cli/rows.h"
#include "tools/common/cli/values.h"
#include "tools/common/profiles/libraries.h"
#include "tools/report/command_line.h"
#include "tools/report/perf_keys.h"

namespace perftape::report_tool {
namespace {

// An option of perf that perftape does not have. The sentence names the way.
template <const auto& kSentence>
inline constexpr cli::Target kRefused = {
    .store = [](cli::BaseOptions&, std::string_view spelled, std::string_view) -> Status {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", spelled, kSentence));
    }};

constexpr char kBranchesWay[] =
    "branches are not added up; 'perftape-inspect --samples' lists those of each sample";
constexpr char kHeaderWay[] = "'perftape-inspect --header' prints the header";
constexpr char kRecordsWay[] = "'perftape-inspect --records' lists the records";
constexpr char kThreadsWay[] = "'--sort pid,comm' adds up the samples by thread";
constexpr char kOneTableWay[] = "each event of a group has a table of its own";
constexpr char kTraceWay[] =
    "instruction traces are not decoded; 'perf inject --itrace' makes samples of them";
constexpr char kLatencyWay[] = "'perftape-report --latency' without options of perf shows latency";
constexpr char kParallelWay[] =
    "'perftape-report --parallelism' without options of perf counts the running threads";
constexpr char kMemoryWay[] = "memory accesses are not added up; 'perf mem report' does that";
constexpr char kSocketWay[] =
    "'--cpu' selects the CPUs of a socket, which 'perftape-inspect "
    "--header' lists";
constexpr char kSwitchWay[] = "'--time' selects the samples between two times";
constexpr char kOrderWay[] = "samples are always read with the names of their time";
constexpr char kStitchWay[] = "call chains of branch stacks are not joined";
constexpr char kTracepointWay[] = "'perftape-convert --to script' prints the fields of tracepoints";
constexpr char kTextWay[] = "the report is text, in a pager on a terminal";
constexpr char kKernelNamesWay[] = "names of the kernel's C++ functions are not demangled";

constexpr cli::Option kTableRows[] = {
    {.name = "sort",
     .letter = 's',
     .argument = "KEYS",
     .help = "add up and sort the samples by these keys, separated by commas (default "
             "comm,dso,symbol); +KEY adds one to the default",
     .into = cli::Store<&PerfPlan::sort>},
    {.name = "fields",
     .letter = 'F',
     .argument = "KEYS",
     .help = "show these columns: overhead, overhead_children, sample, period, or keys of --sort",
     .into = cli::Store<&PerfPlan::fields>},
    {.name = "children",
     .help = "count functions with those that they call; the default with call chains",
     .into = cli::SetTo<true, &PerfPlan::children>},
    {.name = "no-children",
     .help = "count functions alone",
     .into = cli::SetTo<false, &PerfPlan::children>},
    {.name = "show-nr-samples",
     .letter = 'n',
     .help = "add a column with the number of samples",
     .into = cli::Set<&PerfPlan::shows_samples>},
    {.name = "show-total-period",
     .help = "add a column with the sum of periods",
     .into = cli::Set<&PerfPlan::shows_periods>},
    {.name = "show-cpu-utilization",
     .help = "add columns with the shares of the kernel and of user code",
     .into = cli::Set<&PerfPlan::shows_utilization>},
    {.name = "hierarchy",
     .letter = 'H',
     .help = "list the values of each key below those of the key before",
     .conflicts = "fields",
     .into = cli::Set<&PerfPlan::is_hierarchy>},
    {.name = "percent-limit",
     .argument = "PERCENT",
     .help = "leave out lines and branches with a smaller share",
     .into = cli::StoreAs<&cli::ParsePercent, &PerfPlan::percent_limit>},
    {.name = "percentage",
     .argument = "KIND",
     .help = "with filters, show shares of all samples (absolute) or of those that are left "
             "(relative)",
     .into = {.store = &StorePercentage}},
    {.name = "stats",
     .help = "print how many records of each type the file has",
     .into = cli::Set<&PerfPlan::shows_statistics>},
    {.name = "field-separator",
     .letter = 't',
     .argument = "TEXT",
     .help = "separate columns by TEXT, without blanks to align them",
     .into = cli::Store<&PerfPlan::layout, &PerfLayout::separator>},
    {.name = "column-widths",
     .letter = 'w',
     .argument = "WIDTHS",
     .help = "use these widths of columns, separated by commas; 0 is that of the content",
     .into = {.store = &StoreWidths}},
    {.name = "ns",
     .help = "show times with nine decimals",
     .into = cli::Set<&PerfPlan::layout, &PerfLayout::style, &histogram::TextStyle::nanoseconds>},
    {.name = "full-source-path",
     .help = "show source files with their directories",
     .into =
         cli::Set<&PerfPlan::layout, &PerfLayout::style, &histogram::TextStyle::full_source_path>},
    {.name = "time-quantum",
     .argument = "TIME",
     .help = "round times of the key time down to a multiple of TIME (default 100ms)",
     .into = {.store = &StoreQuantum}},
};

constexpr cli::Option kChainRows[] = {
    {.name = "call-graph",
     .letter = 'g',
     .argument = "STYLE",
     .help = "show call chains: graph, fractal, flat, folded or none; the threshold in percent and "
             "the most branches as numbers; caller or callee; function, address or srcline; "
             "percent, period or count (default graph,0.5,caller,function,percent)",
     .argument_is_optional = true,
     .into = cli::Store<&PerfPlan::call_graph>},
    {.name = "no-call-graph", .help = "show no call chains", .into = {.store = &StoreNoCallGraph}},
    {.name = "inverted",
     .letter = 'G',
     .help = "begin call chains with the outermost function",
     .into = cli::Set<&PerfPlan::is_inverted>},
    {.name = "max-stack",
     .argument = "N",
     .help = "read at most N frames of a call chain (default 127)",
     .into = cli::StoreAs<&cli::ParseNumberIn<std::size_t, 0, UINT32_MAX>, &PerfPlan::read,
                          &histogram::ReadOptions::max_stack>},
    {.name = "ignore-callees",
     .argument = "REGEX",
     .help = "count what functions that match call as the functions themselves",
     .into = cli::Store<&PerfPlan::ignore_callees>},
    {.name = "parent",
     .letter = 'p',
     .argument = "REGEX",
     .help = "add the key parent: the first caller that matches",
     .into = cli::Store<&PerfPlan::parent>},
    {.name = "exclude-other",
     .letter = 'x',
     .help = "with --parent, show only samples with such a caller",
     .into = cli::Set<&PerfPlan::read, &histogram::ReadOptions::only_with_parent>},
};

constexpr cli::Option kSelectionRows[] = {
    {.name = "comms",
     .letter = 'c',
     .argument = "NAMES",
     .help = "count only samples of threads with these names",
     .into = cli::Store<&PerfPlan::comms>},
    {.name = "dsos",
     .letter = 'd',
     .argument = "NAMES",
     .help = "count only samples in these binaries",
     .into = cli::Store<&PerfPlan::dsos>},
    {.name = "symbols",
     .letter = 'S',
     .argument = "NAMES",
     .help = "count only samples in these functions",
     .into = cli::Store<&PerfPlan::symbols>},
    {.name = "symbol-filter",
     .argument = "TEXT",
     .help = "count only samples in functions whose name contains TEXT",
     .into = cli::Store<&PerfPlan::read, &histogram::ReadOptions::filter,
                        &histogram::HitFilter::symbol_part>},
    {.name = "pid",
     .argument = "PIDS",
     .help = "count only samples of these processes",
     .into = cli::Store<&PerfPlan::pids>},
    {.name = "tid",
     .argument = "TIDS",
     .help = "count only samples of these threads",
     .into = cli::Store<&PerfPlan::tids>},
    {.name = "cpu",
     .letter = 'C',
     .argument = "CPUS",
     .help = "count only samples of these CPUs: 0-3,8",
     .into = cli::StoreAs<&cli::ParseCpuList, &PerfPlan::cpus>},
    {.name = "time",
     .argument = "TIMES",
     .help = "count only samples in these times: START,STOP in seconds of the recording's clock, "
             "10%-20%, or 10%/2 for the second tenth",
     .into = cli::Store<&PerfPlan::read, &histogram::ReadOptions::times>},
    {.name = "hide-unresolved",
     .letter = 'U',
     .help = "leave out samples in functions without a name",
     .into = cli::Set<&PerfPlan::read, &histogram::ReadOptions::filter,
                      &histogram::HitFilter::hides_unresolved>},
};

constexpr cli::Option kNameRows[] = {
    {.name = "vmlinux",
     .letter = 'k',
     .argument = "FILE",
     .help = "read kernel symbols from FILE, an ELF file or a System.map",
     .completion = cli::Completion::kFile,
     .into = cli::Store<&cli::SymbolPlan::symbol_options, &symbolize::SymbolOptions::vmlinux>},
    {.name = "kallsyms",
     .argument = "FILE",
     .help = "read kernel symbols from FILE, a copy of /proc/kallsyms of the recording machine",
     .completion = cli::Completion::kFile,
     .into = cli::Store<&cli::SymbolPlan::symbol_options, &symbolize::SymbolOptions::kallsyms>},
    {.name = "symfs",
     .argument = "DIR",
     .help = "search the files of the recording machine below DIR, at their paths on that machine",
     .completion = cli::Completion::kDirectory,
     .into = cli::Store<&cli::SymbolPlan::symbol_options, &symbolize::SymbolOptions::symfs>},
    {.name = "bundle",
     .argument = "FILE",
     .help = "use the names in this bundle, in addition to the bundle in the recording",
     .completion = cli::Completion::kFile,
     .into = cli::Store<&cli::SymbolPlan::symbol_options, &symbolize::SymbolOptions::bundle>},
    {.name = "debug-dir",
     .argument = "DIR",
     .help = "search DIR for binaries and debug files by build id; can be given several times",
     .completion = cli::Completion::kDirectory,
     .into = cli::Store<&cli::SymbolPlan::symbol_options, &symbolize::SymbolOptions::debug_dirs>},
    {.name = "no-local",
     .help = "do not use the files of this machine, even if it made the recording",
     .into = cli::SetTo<symbolize::LocalSystem::kNever, &cli::SymbolPlan::symbol_options,
                        &symbolize::SymbolOptions::local>},
    {.name = "no-demangle",
     .help = "show C++ names as the linker knows them",
     .into = cli::SetTo<symbolize::Demangling::kNone, &cli::SymbolPlan::symbol_options,
                        &symbolize::SymbolOptions::demangling>},
    {.name = "no-inline",
     .help = "show no functions that were inlined",
     .into = cli::SetTo<symbolize::SourceLines::kLines, &cli::SymbolPlan::symbol_options,
                        &symbolize::SymbolOptions::source_lines>},
};

constexpr cli::Option kPerfOutputRows[] = {
    {.name = "stdio",
     .help = "print the table of perf report, also without another option of perf",
     .into = cli::Set<&PerfPlan::no_pager>},
    {.name = "no-pager",
     .help = "write to the terminal without a pager",
     .into = cli::Set<&PerfPlan::no_pager>},
    cli::QuietRow("print only the table, without headings"),
    cli::VerboseRow("also print what was read"),
    cli::InputRow("report on this file, like an operand; - is stdin"),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

// Options that describe what the report is or does without them, or that change only perf's
// annotation and its user interface.
constexpr cli::Option kAlreadyRows[] = {
    {.name = "force",
     .letter = 'f',
     .help = "no effect: the owner is not checked",
     .into = cli::Ignore},
    {.name = "inline", .help = "no effect: the default", .into = cli::Ignore},
    {.name = "demangle", .help = "no effect: the default", .into = cli::Ignore},
    {.name = "skip-empty", .help = "no effect: the default", .into = cli::Ignore},
    {.name = "no-group", .help = "no effect: the default", .into = cli::Ignore},
    {.name = "ignore-vmlinux",
     .help = "no effect: --vmlinux is used only if given",
     .into = cli::Ignore},
    {.name = "modules",
     .letter = 'm',
     .help = "no effect: modules have names anyway",
     .into = cli::Ignore},
    {.name = "show-ref-call-graph", .help = "no effect", .into = cli::Ignore},
    {.name = "asm-raw", .help = "no effect: no annotation", .into = cli::Ignore},
    {.name = "source", .help = "no effect: no annotation", .into = cli::Ignore},
    {.name = "disassembler-style",
     .letter = 'M',
     .argument = "STYLE",
     .help = "no effect: no annotation",
     .into = cli::Ignore},
    {.name = "objdump",
     .argument = "PATH",
     .help = "no effect: no annotation",
     .into = cli::Ignore},
    {.name = "addr2line",
     .argument = "PATH",
     .help = "no effect: lines are read without it",
     .into = cli::Ignore},
    {.name = "addr2line-style",
     .argument = "STYLE",
     .help = "no effect: lines are read without it",
     .into = cli::Ignore},
    {.name = "unwind-style",
     .argument = "STYLE",
     .help = "no effect: there is one",
     .into = cli::Ignore},
    {.name = "prefix", .argument = "TEXT", .help = "no effect: no annotation", .into = cli::Ignore},
    {.name = "prefix-strip",
     .argument = "N",
     .help = "no effect: no annotation",
     .into = cli::Ignore},
    {.name = "percent-type",
     .argument = "TYPE",
     .help = "no effect: no annotation",
     .into = cli::Ignore},
    {.name = "pretty",
     .argument = "KEY",
     .help = "no effect: only for --threads of perf",
     .into = cli::Ignore},
    {.name = "samples", .argument = "N", .help = "no effect: no browser", .into = cli::Ignore},
    {.name = "stdio-color",
     .argument = "MODE",
     .help = "no effect: no colors",
     .into = cli::Ignore},
};

constexpr cli::Option kRefusedRows[] = {
    {.name = "branch-stack", .letter = 'b', .help = "refused", .into = kRefused<kBranchesWay>},
    {.name = "branch-history", .help = "refused", .into = kRefused<kBranchesWay>},
    {.name = "total-cycles", .help = "refused", .into = kRefused<kBranchesWay>},
    {.name = "header", .help = "refused", .into = kRefused<kHeaderWay>},
    {.name = "header-only", .help = "refused", .into = kRefused<kHeaderWay>},
    {.name = "show-info", .letter = 'I', .help = "refused", .into = kRefused<kHeaderWay>},
    {.name = "tasks", .help = "refused", .into = kRefused<kRecordsWay>},
    {.name = "mmaps", .help = "refused", .into = kRefused<kRecordsWay>},
    {.name = "dump-raw-trace", .letter = 'D', .help = "refused", .into = kRefused<kRecordsWay>},
    {.name = "threads", .letter = 'T', .help = "refused", .into = kRefused<kThreadsWay>},
    {.name = "group", .help = "refused", .into = kRefused<kOneTableWay>},
    {.name = "group-sort-idx", .argument = "N", .help = "refused", .into = kRefused<kOneTableWay>},
    {.name = "itrace",
     .argument = "OPTIONS",
     .help = "refused",
     .argument_is_optional = true,
     .into = kRefused<kTraceWay>},
    {.name = "latency", .help = "refused", .into = kRefused<kLatencyWay>},
    {.name = "parallelism", .argument = "N", .help = "refused", .into = kRefused<kParallelWay>},
    {.name = "mem-mode", .help = "refused", .into = kRefused<kMemoryWay>},
    {.name = "socket-filter", .argument = "N", .help = "refused", .into = kRefused<kSocketWay>},
    {.name = "switch-on", .argument = "EVENT", .help = "refused", .into = kRefused<kSwitchWay>},
    {.name = "switch-off", .argument = "EVENT", .help = "refused", .into = kRefused<kSwitchWay>},
    {.name = "show-on-off-events", .help = "refused", .into = kRefused<kSwitchWay>},
    {.name = "disable-order", .help = "refused", .into = kRefused<kOrderWay>},
    {.name = "stitch-lbr", .help = "refused", .into = kRefused<kStitchWay>},
    {.name = "raw-trace", .help = "refused", .into = kRefused<kTracepointWay>},
    {.name = "tui", .help = "refused", .into = kRefused<kTextWay>},
    {.name = "gtk", .help = "refused", .into = kRefused<kTextWay>},
    {.name = "demangle-kernel", .help = "refused", .into = kRefused<kKernelNamesWay>},
};

constexpr auto kPerfOptions = cli::Table(cli::InGroup(cli::Group::kContents, kTableRows),
                                         cli::InGroup(cli::Group::kContents, kChainRows),
                                         cli::InGroup(cli::Group::kSelection, kSelectionRows),
                                         cli::InGroup(cli::Group::kSymbols, kNameRows),
                                         cli::InGroup(cli::Group::kOutput, kPerfOutputRows),
                                         cli::InGroup(cli::Group::kOther, kAlreadyRows),
                                         cli::InGroup(cli::Group::kOther, kRefusedRows));

constexpr std::string_view kOtherView = "it cannot be combined with options of perf report";
constexpr cli::ForeignOption kOwnOptions[] = {
    {.name = "by", .instead = "--sort adds up by keys"},
    {.name = "tree", .instead = "--call-graph shows call chains"},
    {.name = "lines", .instead = "--sort srcline adds up by source line"},
    {.name = "comm", .instead = "--comms selects threads"},
    {.name = "dso", .instead = "--dsos selects binaries"},
    {.name = "symbol", .instead = "--symbols selects functions"},
    {.name = "stacks", .instead = kOtherView},
    {.name = "diff", .instead = kOtherView},
    {.name = "diagnose", .instead = kOtherView},
    {.name = "json", .instead = kOtherView},
    {.name = "csv", .instead = "--field-separator , separates columns by commas"},
    {.name = "markdown", .instead = kOtherView},
    {.name = "output", .letter = 'o', .instead = "redirect the output with >"},
    {.name = "path", .instead = kOtherView},
    {.name = "wall", .instead = kOtherView},
};

constexpr cli::Example kPerfExamples[] = {
    {"perftape-report --stdio", "the table of perf report"},
    {"perftape-report --sort dso,sym --no-children", "functions by binary"},
    {"perftape-report --no-children -g caller", "with call chains, outermost function first"},
};

constexpr cli::Command kPerfCommand = {
    .name = "perftape-report",
    .purpose = "Show the table of perf report: samples by keys, with call chains.",
    .operands = "[FILE]",
    .options = kPerfOptions,
    .examples = kPerfExamples,
    .epilogue =
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but the input was "
        "damaged.\n",
    .foreign = kOwnOptions,
    .libraries = &cli::LibrariesOfProfiles,
};

bool OnlyPerfHas(std::string_view word) {
  return cli::FindOption(ReportCommand(), word) == nullptr &&
         cli::FindOption(kPerfCommand, word) != nullptr;
}

bool TakesNextWord(std::string_view word) {
  const cli::Option* row = cli::FindOption(ReportCommand(), word);
  if (row == nullptr) row = cli::FindOption(kPerfCommand, word);
  return row != nullptr && row->takes_next_word();
}

// Returns whether the argument of the last letter is the next word. Sets `asks` if a letter is one
// of perf alone.
bool ReadLetters(std::string_view letters, bool& asks) {
  while (!letters.empty()) {
    const std::string_view letter = letters.substr(0, 1);
    letters.remove_prefix(1);
    asks |= OnlyPerfHas(letter);
    if (TakesNextWord(letter)) return letters.empty();
  }
  return false;
}

// Whether a word can be the argument of -g.
bool IsCallGraph(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "graph",    "flat",    "fractal", "folded", "none",    "caller", "callee",
      "function", "address", "srcline", "branch", "percent", "period", "count"};
  const std::string_view first = word.substr(0, word.find(','));
  double number = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), number);
  if (error == std::errc() && end == first.data() + first.size()) return true;
  return std::ranges::any_of(
      kWords, [&](std::string_view known) { return !first.empty() && known.starts_with(first); });
}

}  // namespace

const cli::Command& PerfReportCommand() {
  return kPerfCommand;
}

bool AsksForPerf(std::span<const std::string> words) {
  bool asks = false;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("-") || word == "-") continue;
    // "-n --stdio" are two options, although -n of perftape-report has an argument.
    const bool has_next = i + 1 < words.size() && !words[i + 1].starts_with("-");
    if (!word.starts_with("--")) {
      if (ReadLetters(word.substr(1), asks) && has_next) ++i;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(2, equals == word.npos ? equals : equals - 2);
    asks |= OnlyPerfHas(name);
    const bool takes_next = has_next && equals == word.npos && TakesNextWord(name);
    std::string_view value;
    if (equals != word.npos) value = word.substr(equals + 1);
    if (takes_next) value = words[++i];
    asks |= name == "sort" && !value.empty() && value != "self" && value != "total";
  }
  return asks;
}

std::vector<std::string> JoinCallGraph(std::vector<std::string> words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    const bool is_long = words[i] == "--call-graph";
    const bool is_short =
        words[i].size() > 1 && words[i][0] == '-' && words[i][1] != '-' && words[i].back() == 'g' &&
        std::ranges::all_of(words[i].substr(1, words[i].size() - 2), [](char letter) {
          const cli::Option* row = cli::FindOption(kPerfCommand, std::string_view(&letter, 1));
          return row != nullptr && !row->takes_argument();
        });
    if ((!is_long && !is_short) || !IsCallGraph(words[i + 1])) continue;
    words[i] += (is_long ? "=" : "") + words[i + 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return words;
}

}  // namespace perftape::report_tool
