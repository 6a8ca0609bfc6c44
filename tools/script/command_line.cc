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
     .into = cli::Store<&ScriptPlan::field_arguments>},
    {.name = "hide-call-graph",
     .letter = 'G',
     .help = "print the address of the sample instead of its callchain",
     .into = cli::SetTo<listing::CallGraph::kHidden, &ScriptPlan::listing,
                        &listing::Options::call_graph>},
    {.name = "max-stack",
     .argument = "N",
     .help = "print at most N frames of a callchain (default: 127)",
     .into = cli::StoreAs<&cli::ParseNumberIn<std::size_t, 0, UINT32_MAX>, &ScriptPlan::listing,
                          &listing::Options::max_stack>},
    {.name = "style",
     .argument = "VERSION",
     .help = "print as this version of perf does: {choices}",
     .into = cli::StoreChoice<kStyles, &ScriptPlan::listing, &listing::Options::style>},
    {.name = "header",
     .help = "print first who recorded what, where, as comments",
     .into = cli::SetTo<Header::kShown, &ScriptPlan::header>},
    {.name = "header-only",
     .help = "print only these comments",
     .is_rare = true,
     .into = cli::SetTo<Header::kOnly, &ScriptPlan::header>},
    {.name = "show-info",
     .letter = 'I',
     .help = "the same as --header; 'perftape-inspect --header' has the topology, too",
     .is_rare = true,
     .into = cli::SetTo<Header::kShown, &ScriptPlan::header>},
    {.name = "ns",
     .help = "print times with nine decimals",
     .is_rare = true,
     .into = cli::SetTo<listing::TimeDigits::kNanoseconds, &ScriptPlan::listing,
                        &listing::Options::time_digits>},
    {.name = "reltime",
     .help = "print times since the first line",
     .conflicts = "deltatime",
     .is_rare = true,
     .into = cli::SetTo<listing::TimeForm::kSinceFirst, &ScriptPlan::listing,
                        &listing::Options::time_form>},
    {.name = "deltatime",
     .help = "print times since the previous line",
     .is_rare = true,
     .into = cli::SetTo<listing::TimeForm::kSincePrevious, &ScriptPlan::listing,
                        &listing::Options::time_form>},
    {.name = "show-mmap-events",
     .help = "also print mappings",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kMmap, &ScriptPlan::listing, &listing::Options::records>},
    {.name = "show-task-events",
     .help = "also print the starts, names and ends of threads",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kTask, &ScriptPlan::listing, &listing::Options::records>},
    {.name = "show-switch-events",
     .help = "also print context switches",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kSwitch, &ScriptPlan::listing, &listing::Options::records>},
    {.name = "show-lost-events",
     .help = "also print how many records were lost",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kLost, &ScriptPlan::listing, &listing::Options::records>},
    {.name = "show-namespace-events",
     .help = "also print the namespaces of threads",
     .is_rare = true,
     .into =
         cli::AddTo<ShownRecord::kNamespaces, &ScriptPlan::listing, &listing::Options::records>},
    {.name = "show-cgroup-events",
     .help = "also print the paths of cgroups",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kCgroup, &ScriptPlan::listing, &listing::Options::records>},
    {.name = "show-bpf-events",
     .help = "also print the loads and symbols of BPF programs",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kBpf, &ScriptPlan::listing, &listing::Options::records>},
    {.name = "show-round-events",
     .help = "also print the ends of rounds",
     .is_rare = true,
     .into = cli::AddTo<ShownRecord::kRound, &ScriptPlan::listing, &listing::Options::records>},
};

constexpr cli::Option kSelectionRows[] = {
    {.name = "comms",
     .letter = 'c',
     .argument = "NAMES",
     .help = "print only threads with these names",
     .into = cli::Store<&ScriptPlan::comms>},
    {.name = "pid",
     .argument = "PIDS",
     .help = "print only these processes",
     .completion = cli::Completion::kProcess,
     .into = cli::StoreAs<&cli::ParseIds, &ScriptPlan::pids>},
    {.name = "tid",
     .argument = "TIDS",
     .help = "print only these threads",
     .into = cli::StoreAs<&cli::ParseIds, &ScriptPlan::tids>},
    {.name = "cpu",
     .letter = 'C',
     .argument = "CPUS",
     .help = "print only these CPUs: 0-3,8",
     .into = cli::StoreAs<&cli::ParseCpuList, &ScriptPlan::cpus>},
    {.name = "dsos",
     .argument = "NAMES",
     .help = "print only samples in these binaries",
     .into = cli::Store<&ScriptPlan::dsos>},
    {.name = "symbols",
     .letter = 'S',
     .argument = "NAMES",
     .help = "print only samples in these functions",
     .into = cli::Store<&ScriptPlan::symbols>},
    {.name = "event",
     .argument = "NAMES",
     .help = "print only samples of these events",
     .into = cli::Store<&ScriptPlan::events>},
    {.name = "time",
     .argument = "FROM,TO",
     .help = "print only samples in this time, each end as it is printed, in seconds since the "
             "first sample, or in percent",
     .into = cli::StoreAs<&ParseTime, &ScriptPlan::listing, &listing::Options::selection,
                          &listing::Selection::time>},
};

constexpr cli::Option kOutputRows[] = {
    cli::OutputRow("write to FILE instead of stdout",
                   cli::StoreAs<cli::ParseOutput, &ScriptPlan::output>),
    cli::ForceRow(cli::SetTo<IfExists::kReplace, &ScriptPlan::if_exists>),
    {.name = "per-event-dump",
     .help = "write the lines of each event to a file FILE.EVENT.dump",
     .conflicts = "output header header-only",
     .is_rare = true,
     .into = cli::SetTo<Dump::kFilePerEvent, &ScriptPlan::dump>},
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
     .into = cli::Store<&ScriptPlan::symbol_options, &symbolize::SymbolOptions::vmlinux>},
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow("print no warnings on stderr"),
    cli::VerboseRow("print for each binary how many addresses have names"),
    cli::InputRow("read this perf.data instead of the operand; - is stdin"),
    {.name = "no-itrace",
     .help = "do not decode hardware traces, which perftape never does",
     .is_rare = true,
     .into = cli::Ignore},
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

// A row of an option of perf script that is refused.
template <Refused kReason>
constexpr cli::Option RefusedRow(std::string_view name, std::string_view argument = {},
                                 char letter = 0) {
  return {.name = name,
          .letter = letter,
          .argument = argument,
          .help = "an option of perf that is refused, with the way",
          .is_rare = true,
          .into = cli::SetTo<kReason, &ScriptPlan::refused>};
}

// The same with an optional argument.
template <Refused kReason>
constexpr cli::Option RefusedOptionalRow(std::string_view name) {
  cli::Option row = RefusedRow<kReason>(name, "WORDS");
  row.argument_is_optional = true;
  return row;
}

constexpr cli::Option kRefusedRows[] = {
    RefusedRow<Refused::kScript>("script", "NAME", 's'),
    RefusedRow<Refused::kScript>("gen-script", "LANGUAGE", 'g'),
    RefusedRow<Refused::kListScripts>("list", {}, 'l'),
    RefusedRow<Refused::kDumpRecords>("dump-raw-trace", {}, 'D'),
    RefusedRow<Refused::kDumpRecords>("dump-unsorted-raw-trace"),
    RefusedRow<Refused::kDumpRecords>("debug-mode", {}, 'd'),
    RefusedOptionalRow<Refused::kTrace>("itrace"),
    RefusedOptionalRow<Refused::kTrace>("insn-trace"),
    RefusedOptionalRow<Refused::kTrace>("call-trace"),
    RefusedOptionalRow<Refused::kTrace>("call-ret-trace"),
    RefusedOptionalRow<Refused::kTrace>("xed"),
    RefusedRow<Refused::kTrace>("graph-function", "NAMES"),
    RefusedRow<Refused::kTrace>("max-blocks", "N"),
    RefusedRow<Refused::kTrace>("stitch-lbr"),
    RefusedRow<Refused::kFilterLibrary>("dlfilter", "FILE"),
    RefusedRow<Refused::kFilterLibrary>("dlarg", "TEXT"),
    RefusedRow<Refused::kFilterLibrary>("list-dlfilters"),
    RefusedRow<Refused::kGuest>("guest-code"),
    RefusedRow<Refused::kGuest>("guestkallsyms", "FILE"),
    RefusedRow<Refused::kGuest>("guestmodules", "FILE"),
    RefusedRow<Refused::kGuest>("guestmount", "DIR"),
    RefusedRow<Refused::kGuest>("guestvmlinux", "FILE"),
    RefusedRow<Refused::kLatencyFormat>("Latency", {}, 'L'),
    RefusedRow<Refused::kSwitchOnEvent>("switch-on", "EVENT"),
    RefusedRow<Refused::kSwitchOnEvent>("switch-off", "EVENT"),
    RefusedRow<Refused::kSwitchOnEvent>("show-on-off-events"),
    RefusedRow<Refused::kTextPoke>("show-text-poke-events"),
    RefusedRow<Refused::kStopAtSymbol>("stop-bt", "NAMES"),
    RefusedRow<Refused::kAddressRange>("addr-range", "N"),
    RefusedRow<Refused::kLive>("all-cpus", {}, 'a'),
};

struct Refusal {
  Refused reason;
  std::string_view sentence;
};

constexpr Refusal kRefusals[] = {
    {Refused::kScript,
     "scripts in Python or Perl are not run: pipe the text into a program, or read 'perftape-"
     "inspect --samples --json --fields', which has a JSON object for each sample"},
    {Refused::kListScripts,
     "perftape has no scripts: 'perftape-report' and 'perftape-convert' compute what most of "
     "perf's scripts do, and 'perftape help' lists the rest"},
    {Refused::kDumpRecords,
     "'perftape-inspect --records' prints each record with all fields, and 'perftape-inspect "
     "--validate' checks them"},
    {Refused::kTrace,
     "hardware traces (Intel PT, CoreSight) are not decoded: use perf script on this machine"},
    {Refused::kFilterLibrary,
     "no code is loaded into perftape: use --comms, --pid, --dsos, --symbols or --time, or filter "
     "the text"},
    {Refused::kGuest, "symbols of guests are not looked up: record in the guest"},
    {Refused::kLatencyFormat,
     "the flags of tracepoints are in 'perftape-inspect --records', as common_flags"},
    {Refused::kSwitchOnEvent,
     "select the time between the events with --time FROM,TO; 'perftape-report --path "
     "--from-event' does so by events"},
    {Refused::kTextPoke, "'perftape-inspect --records' prints the records TEXT_POKE"},
    {Refused::kStopAtSymbol,
     "--max-stack N ends callchains; 'perftape-convert --focus' selects functions"},
    {Refused::kAddressRange, "select functions with --symbols"},
    {Refused::kLive,
     "a recording is made by 'perftape-record -a', and has all CPUs; --cpu selects some"},
};

constexpr auto kOptions = cli::Table(
    cli::InGroup(cli::Group::kContents, kContentRows),
    cli::InGroup(cli::Group::kSelection, kSelectionRows),
    cli::InGroup(cli::Group::kSymbols, cli::kSymbolRows),
    cli::InGroup(cli::Group::kSymbols, kSymbolRows), cli::InGroup(cli::Group::kOutput, kOutputRows),
    cli::InGroup(cli::Group::kOther, kOtherRows), cli::InGroup(cli::Group::kOther, kRefusedRows));

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
    .libraries = &cli::LibrariesOfProfiles,
};

// Returns the last refused option as it was typed.
std::string RefusedSpelling(const ScriptPlan& plan) {
  std::string spelled;
  for (const cli::GivenOption& given : plan.given) {
    const bool is_refused = std::ranges::find(kRefusedRows, given.row->name, &cli::Option::name) !=
                            std::end(kRefusedRows);
    if (is_refused) spelled = given.spelled;
  }
  return spelled;
}

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
  if (plan.refused) {
    const auto* const refusal = std::ranges::find(kRefusals, *plan.refused, &Refusal::reason);
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}", RefusedSpelling(plan), refusal->sentence));
  }
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
