// SPDX-License-Identifier: Apache-2.0
#include "tools/script/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "tools/common/cli/output.h"
#include "tools/common/cli/rows.h"
#include "tools/common/profiles/filter_options.h"
#include "tools/common/profiles/libraries.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/script/perf_rows.h"

namespace perftape::script_tool {
namespace {

using listing::ShownRecord;

// "10%,20%", "12.5,13", and perf's "10%-20%".
Result<convert::TimeRange> ParseTime(std::string_view option, std::string_view text) {
  std::string range(text);
  const std::size_t dash = range.find("%-");
  if (dash != std::string::npos) range[dash + 1] = ',';
  return cli::ParseTimeRange(option, range);
}

constexpr cli::Choice<listing::Style> kStyles[] = {
    {"6.1", listing::Style::kPerf61, "default"},
    {"7.3", listing::Style::kPerf73},
};

constexpr cli::Option kContentRows[] = {
    {.name = "fields",
     .letter = 'F',
     .argument = "FIELDS",
     .help = "print these fields, with commas between them; +FIELD and -FIELD change the default; "
             "hw:, sw:, trace:, raw:, break: or synth: before the list selects a type of event",
     .into = cli::Store<&ScriptPlan::field_arguments>,
     .verdict = cli::Verdict::kDone},
    {.name = "hide-call-graph",
     .letter = 'G',
     .help = "print the address of the sample instead of its callchain",
     .into = cli::SetTo<listing::CallGraph::kHidden, &ScriptPlan::listing,
                        &listing::Options::call_graph>,
     .verdict = cli::Verdict::kDone},
    {.name = "max-stack",
     .argument = "N",
     .help = "print at most N frames of a callchain (default: 127)",
     .into = cli::StoreAs<&cli::ParseNumberIn<std::size_t, 0, UINT32_MAX>, &ScriptPlan::listing,
                          &listing::Options::max_stack>,
     .verdict = cli::Verdict::kDone},
    {.name = "style",
     .argument = "VERSION",
     .help = "print as this version of perf does: {choices}",
     .into = cli::StoreChoice<kStyles, &ScriptPlan::listing, &listing::Options::style>},
    {.name = "header",
     .help = "print first who recorded what, where, as comments",
     .into = cli::SetTo<Header::kShown, &ScriptPlan::header>,
     .verdict = cli::Verdict::kDone},
    {.name = "header-only",
     .help = "print only these comments",
     .is_rare = true,
     .into = cli::SetTo<Header::kOnly, &ScriptPlan::header>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-info",
     .letter = 'I',
     .help = "the same as --header; 'perftape-inspect --header' has the topology, too",
     .is_rare = true,
     .into = cli::SetTo<Header::kShown, &ScriptPlan::header>,
     .verdict = cli::Verdict::kDone},
    {.name = "ns",
     .help = "print times with nine decimals",
     .is_rare = true,
     .into = cli::SetTo<listing::TimeDigits::kNanoseconds, &ScriptPlan::listing,
                        &listing::Options::time_digits>,
     .verdict = cli::Verdict::kDone},
    {.name = "reltime",
     .help = "print times since the first line",
     .conflicts = "deltatime",
     .is_rare = true,
     .into = cli::SetTo<listing::TimeForm::kSinceFirst, &ScriptPlan::listing,
                        &listing::Options::time_form>,
     .verdict = cli::Verdict::kDone},
    {.name = "deltatime",
     .help = "print times since the previous line",
     .is_rare = true,
     .into = cli::SetTo<listing::TimeForm::kSincePrevious, &ScriptPlan::listing,
                        &listing::Options::time_form>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-mmap-events",
     .help = "also print mappings",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kMmap, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-task-events",
     .help = "also print the starts, names and ends of threads",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kTask, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-switch-events",
     .help = "also print context switches",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kSwitch, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-lost-events",
     .help = "also print how many records were lost",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kLost, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-namespace-events",
     .help = "also print the namespaces of threads",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kNamespaces, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-cgroup-events",
     .help = "also print the paths of cgroups",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kCgroup, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-bpf-events",
     .help = "also print the loads and symbols of BPF programs",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kBpf, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
    {.name = "show-round-events",
     .help = "also print the ends of rounds",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kRound, &ScriptPlan::listing, &listing::Options::records>,
     .verdict = cli::Verdict::kDone},
};

constexpr cli::Option kSelectionRows[] = {
    {.name = "comms",
     .letter = 'c',
     .argument = "NAMES",
     .help = "print only threads with these names",
     .into = cli::Store<&ScriptPlan::comms>,
     .verdict = cli::Verdict::kDone},
    {.name = "pid",
     .argument = "PIDS",
     .help = "print only these processes",
     .completion = cli::Completion::kProcess,
     .into = cli::StoreAs<&cli::ParseIds, &ScriptPlan::pids>,
     .verdict = cli::Verdict::kDone},
    {.name = "tid",
     .argument = "TIDS",
     .help = "print only these threads",
     .into = cli::StoreAs<&cli::ParseIds, &ScriptPlan::tids>,
     .verdict = cli::Verdict::kDone},
    {.name = "cpu",
     .letter = 'C',
     .argument = "CPUS",
     .help = "print only these CPUs: 0-3,8",
     .into = cli::StoreAs<&cli::ParseCpuList, &ScriptPlan::cpus>,
     .verdict = cli::Verdict::kDone},
    {.name = "dsos",
     .argument = "NAMES",
     .help = "print only samples in these binaries",
     .into = cli::Store<&ScriptPlan::dsos>,
     .verdict = cli::Verdict::kDone},
    {.name = "symbols",
     .letter = 'S',
     .argument = "NAMES",
     .help = "print only samples in these functions",
     .into = cli::Store<&ScriptPlan::symbols>,
     .verdict = cli::Verdict::kDone},
    {.name = "event",
     .argument = "NAMES",
     .help = "print only samples of these events",
     .into = cli::Store<&ScriptPlan::events>},
    {.name = "time",
     .argument = "FROM,TO",
     .help = "print only samples in this time, each end as it is printed, in seconds since the "
             "first sample, or in percent",
     .into = cli::StoreAs<&ParseTime, &ScriptPlan::listing, &listing::Options::selection,
                          &listing::Selection::time>,
     .verdict = cli::Verdict::kDone},
};

constexpr cli::Option WithReason(cli::Option row, std::string_view reason) {
  row.reason = reason;
  return row;
}

constexpr cli::Option kOutputRows[] = {
    cli::OutputRow("write to FILE instead of stdout",
                   cli::StoreAs<cli::ParseOutput, &ScriptPlan::output>),
    WithReason(cli::AsInPerf(cli::ForceRow(cli::SetTo<IfExists::kReplace, &ScriptPlan::if_exists>)),
               "the owner of a recording is never checked; an existing output is replaced"),
    {.name = "per-event-dump",
     .help = "write the lines of each event to a file FILE.EVENT.dump",
     .conflicts = "output header header-only",
     .is_rare = true,
     .into = cli::SetTo<Dump::kFilePerEvent, &ScriptPlan::dump>,
     .verdict = cli::Verdict::kDone},
    {.name = "no-pager",
     .help = "do not start a pager on a terminal",
     .is_rare = true,
     .into = cli::Set<&ScriptPlan::no_pager>},
};

constexpr cli::Option kSymbolRows[] = {
    {.letter = 'k',
     .argument = "FILE",
     .help = "the same as --vmlinux",
     .completion = cli::Completion::kFile,
     .is_rare = true,
     .into = cli::Store<&ScriptPlan::symbol_options, &symbolize::SymbolOptions::vmlinux>,
     .verdict = cli::Verdict::kDone},
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow("print no warnings on stderr"),
    cli::AsInPerf(cli::VerboseRow("print for each binary how many addresses have names")),
    cli::AsInPerf(cli::InputRow("read this perf.data instead of the operand; - is stdin")),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

// The options of perf script among the rows that other tools have, too.
constexpr cli::Words kPerfSymbolOptions = "symfs kallsyms vmlinux demangle no-inline";

consteval auto SymbolRows() {
  auto rows = cli::InGroup(cli::Group::kSymbols, cli::kSymbolRows);
  for (cli::Option& row : rows) {
    for (const std::string_view name : kPerfSymbolOptions) {
      if (row.name == name) row = cli::AsInPerf(row);
    }
    if (row.name == "demangle") row.reason = "names are demangled by default; a style is needed";
  }
  return rows;
}

constexpr auto kOptions = cli::Table(cli::InGroup(cli::Group::kContents, kContentRows),
                                     cli::InGroup(cli::Group::kSelection, kSelectionRows),
                                     SymbolRows(), cli::InGroup(cli::Group::kSymbols, kSymbolRows),
                                     cli::InGroup(cli::Group::kOutput, kOutputRows),
                                     cli::InGroup(cli::Group::kOther, kOtherRows),
                                     cli::OfPerf(cli::Verdict::kAlreadySo, kAlreadySoPerfRows),
                                     cli::OfPerf(cli::Verdict::kRefused, kRefusedPerfRows));

constexpr cli::Example kExamples[] = {
    {"perftape-script > samples.txt", "all samples of perf.data, with their callchains"},
    {"perftape-script -i perf.data -F comm,tid,time,event,ip,sym", "only these fields"},
    {"perftape-script -F +srcline -c burner | less", "with source lines, of one thread name"},
    {"perftape-script perf.data | stackcollapse-perf.pl > out.folded", "for other programs"},
    {"perftape-script -G --show-task-events --show-mmap-events", "with starts and mappings"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-script",
    .purpose = "Print the samples of a perf.data as text, as perf script does.",
    .operands = "[FILE]",
    .options = kOptions,
    .examples = kExamples,
    .epilogue =
        "The default FILE is perf.data.\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but the file is damaged.\n",
    .habits = cli::Habits::kPerf,
    .libraries = &cli::LibrariesOfProfiles,
};

std::set<std::string, std::less<>> Names(const std::vector<std::string>& arguments) {
  std::set<std::string, std::less<>> names;
  for (const std::string& argument : arguments) {
    for (const std::string_view name : cli::SplitAtCommas(argument)) names.emplace(name);
  }
  return names;
}

template <class Ids>
std::set<std::uint32_t> Numbers(const Ids& ids) {
  std::set<std::uint32_t> numbers;
  for (const auto id : ids) numbers.insert(static_cast<std::uint32_t>(id));
  return numbers;
}

}  // namespace

const cli::Command& ScriptCommand() {
  return kCommand;
}

Result<ScriptPlan> PlanOf(ScriptPlan plan) {
  if (plan.operands.size() == 1) plan.input = plan.operands.front();
  if (plan.operands.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "name one file: scripts of perf (perf script record, report) are not run");
  }
  for (const std::string& argument : plan.field_arguments) {
    TRY(plan.listing.fields.Change(argument, plan.field_warnings));
  }
  plan.listing.selection.comms = Names(plan.comms);
  plan.listing.selection.dsos = Names(plan.dsos);
  plan.listing.selection.symbols = Names(plan.symbols);
  plan.listing.selection.events = Names(plan.events);
  plan.listing.selection.pids = Numbers(plan.pids);
  plan.listing.selection.tids = Numbers(plan.tids);
  plan.listing.selection.cpus = Numbers(plan.cpus);
  cli::FinishSymbolOptions(plan);
  return plan;
}

Status Confine(const ScriptPlan& plan) {
  sandbox::FileGrants grants;
  const std::filesystem::path inputs[] = {plan.input};
  sandbox::GrantInput(plan.input, grants);
  sandbox::GrantOutput(plan.dump == Dump::kOneOutput ? plan.output : DumpPath(plan, "event"),
                       grants);
  cli::GrantSymbolSources(plan.symbol_options, inputs, grants);
  return sandbox::Confine(grants);
}

std::filesystem::path DumpPath(const ScriptPlan& plan, std::string_view event) {
  std::string name = plan.input == "-" ? "stdin" : plan.input.string();
  std::string part(event);
  std::ranges::replace(part, '/', '_');
  return name + "." + part + ".dump";
}

}  // namespace perftape::script_tool
