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

constexpr std::string_view kBranchesWay =
    "branches are not added up; 'perftape-inspect --samples' lists those of each sample";
constexpr std::string_view kHeaderWay = "'perftape-inspect --header' prints the header";
constexpr std::string_view kRecordsWay = "'perftape-inspect --records' lists the records";
constexpr std::string_view kThreadsWay = "'--sort pid,comm' adds up the samples by thread";
constexpr std::string_view kOneTableWay = "each event of a group has a table of its own";
constexpr std::string_view kTraceWay =
    "instruction traces are not decoded; 'perf inject --itrace' makes samples of them";
constexpr std::string_view kLatencyWay =
    "'perftape-report --latency' without options of perf shows latency";
constexpr std::string_view kParallelWay =
    "'perftape-report --parallelism' without options of perf counts the running threads";
constexpr std::string_view kMemoryWay =
    "memory accesses are not added up; 'perf mem report' does that";
constexpr std::string_view kSocketWay =
    "'--cpu' selects the CPUs of a socket, which 'perftape-inspect "
    "--header' lists";
constexpr std::string_view kSwitchWay = "'--time' selects the samples between two times";
constexpr std::string_view kOrderWay = "samples are always read with the names of their time";
constexpr std::string_view kStitchWay = "call chains of branch stacks are not joined";
constexpr std::string_view kTracepointWay =
    "'perftape-convert --to script' prints the fields of tracepoints";
constexpr std::string_view kTextWay = "the report is text, in a pager on a terminal";
constexpr std::string_view kKernelNamesWay =
    "names of the kernel's C++ functions are not demangled";

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
    cli::QuietRow("print only the table, without headings"),
    cli::VerboseRow("also print what was read"),
    cli::InputRow("report on this file, like an operand; - is stdin"),
};

constexpr cli::Option kOwnNameRows[] = {
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
};

constexpr cli::Option kOwnOutputRows[] = {
    {.name = "no-pager",
     .help = "write to the terminal without a pager",
     .into = cli::Set<&PerfPlan::no_pager>},
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

// Options that ask for what the report does anyway, or change only perf's annotation and its user
// interface.
constexpr cli::Option kAlreadyRows[] = {
    {.name = "force", .letter = 'f', .reason = "the owner of the file is not checked"},
    {.name = "inline", .reason = "it is the default"},
    {.name = "demangle", .reason = "it is the default"},
    {.name = "skip-empty", .reason = "it is the default"},
    {.name = "no-group", .reason = "it is the default"},
    {.name = "ignore-vmlinux", .reason = "--vmlinux is used only if given"},
    {.name = "modules", .letter = 'm', .reason = "modules have names anyway"},
    {.name = "show-ref-call-graph", .reason = "each event has its own call chains"},
    {.name = "asm-raw", .reason = "the table has no annotated code"},
    {.name = "source", .reason = "the table has no annotated code"},
    {.name = "disassembler-style",
     .letter = 'M',
     .argument = "STYLE",
     .reason = "the table has no annotated code"},
    {.name = "objdump", .argument = "PATH", .reason = "the table has no annotated code"},
    {.name = "addr2line", .argument = "PATH", .reason = "lines are read without it"},
    {.name = "addr2line-style", .argument = "STYLE", .reason = "lines are read without it"},
    {.name = "unwind-style", .argument = "STYLE", .reason = "there is only one unwinder"},
    {.name = "prefix", .argument = "TEXT", .reason = "the table has no annotated code"},
    {.name = "prefix-strip", .argument = "N", .reason = "the table has no annotated code"},
    {.name = "percent-type", .argument = "TYPE", .reason = "the table has no annotated code"},
    {.name = "pretty", .argument = "KEY", .reason = "it is only for perf's --threads"},
    {.name = "samples", .argument = "N", .reason = "there is no browser of samples"},
    {.name = "stdio-color", .argument = "MODE", .reason = "the table has no colors"},
};

constexpr cli::Option kRefusedRows[] = {
    {.name = "branch-stack", .letter = 'b', .reason = kBranchesWay},
    {.name = "branch-history", .reason = kBranchesWay},
    {.name = "total-cycles", .reason = kBranchesWay},
    {.name = "header", .reason = kHeaderWay},
    {.name = "header-only", .reason = kHeaderWay},
    {.name = "show-info", .letter = 'I', .reason = kHeaderWay},
    {.name = "tasks", .reason = kRecordsWay},
    {.name = "mmaps", .reason = kRecordsWay},
    {.name = "dump-raw-trace", .letter = 'D', .reason = kRecordsWay},
    {.name = "threads", .letter = 'T', .reason = kThreadsWay},
    {.name = "group", .reason = kOneTableWay},
    {.name = "group-sort-idx", .argument = "N", .reason = kOneTableWay},
    {.name = "itrace", .argument = "OPTIONS", .argument_is_optional = true, .reason = kTraceWay},
    {.name = "latency", .reason = kLatencyWay},
    {.name = "parallelism", .argument = "N", .reason = kParallelWay},
    {.name = "mem-mode", .reason = kMemoryWay},
    {.name = "socket-filter", .argument = "N", .reason = kSocketWay},
    {.name = "switch-on", .argument = "EVENT", .reason = kSwitchWay},
    {.name = "switch-off", .argument = "EVENT", .reason = kSwitchWay},
    {.name = "show-on-off-events", .reason = kSwitchWay},
    {.name = "disable-order", .reason = kOrderWay},
    {.name = "stitch-lbr", .reason = kStitchWay},
    {.name = "raw-trace", .reason = kTracepointWay},
    {.name = "tui", .reason = kTextWay},
    {.name = "gtk", .reason = kTextWay},
    {.name = "demangle-kernel", .reason = kKernelNamesWay},
};

constexpr auto kPerfOptions = cli::Table(cli::InGroup(cli::Group::kContents, kTableRows),
                                         cli::InGroup(cli::Group::kContents, kChainRows),
                                         cli::InGroup(cli::Group::kSelection, kSelectionRows),
                                         cli::InGroup(cli::Group::kSymbols, kNameRows),
                                         cli::InGroup(cli::Group::kSymbols, kOwnNameRows),
                                         cli::InGroup(cli::Group::kOutput, kPerfOutputRows),
                                         cli::InGroup(cli::Group::kOutput, kOwnOutputRows),
                                         cli::OfPerf(cli::Verdict::kAlreadySo, kAlreadyRows),
                                         cli::OfPerf(cli::Verdict::kRefused, kRefusedRows));

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
