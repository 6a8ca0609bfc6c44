// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/command_line.h"

#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

constexpr cli::Option kPagerRows[] = {
    {.name = "no-pager", .help = "never start a pager", .into = cli::Set<&PerfPlan::no_pager>},
    {.name = "paginate",
     .letter = 'p',
     .help = "accepted without effect: long texts are shown in a pager anyway",
     .is_rare = true,
     .into = cli::Set<&PerfPlan::paginate>},
};

constexpr cli::Option kSymbolRows[] = {
    {.name = "buildid-dir",
     .argument = "DIR",
     .help = "set PERF_BUILDID_DIR to DIR, the build-id cache that is used instead of ~/.debug",
     .completion = cli::Completion::kDirectory,
     .into = cli::Store<&PerfPlan::buildid_dir>},
};

constexpr cli::Option kOtherRows[] = {
    {.letter = 'v',
     .help = "print the version of perf, as 'version' does",
     .into = cli::SetTo<PerfAnswer::kPerfVersion, &PerfPlan::answer>},
    {.name = "list-cmds",
     .help = "print the commands of perf that work",
     .is_rare = true,
     .into = cli::SetTo<PerfAnswer::kCommands, &PerfPlan::answer>},
    {.name = "list-opts",
     .help = "print the options before a command",
     .is_rare = true,
     .into = cli::SetTo<PerfAnswer::kOptions, &PerfPlan::answer>},
    {.name = "exec-path",
     .help = "print the directory of this program",
     .is_rare = true,
     .into = cli::SetTo<PerfAnswer::kExecPath, &PerfPlan::answer>},
    {.name = "html-path",
     .help = "print the directory of the documentation",
     .is_rare = true,
     .into = cli::SetTo<PerfAnswer::kHtmlPath, &PerfPlan::answer>},
    {.name = "debugfs-dir",
     .argument = "DIR",
     .help = "accepted without effect: tracefs is found where it is mounted",
     .completion = cli::Completion::kDirectory,
     .is_rare = true,
     .into = cli::Store<&PerfPlan::debugfs_dir>},
    {.name = "debug",
     .argument = "KEY",
     .help = "accepted without effect: there are no messages of this kind",
     .is_rare = true,
     .into = cli::Store<&PerfPlan::debug>},
};
constexpr auto kOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kPagerRows),
                                     cli::InGroup(cli::Group::kSymbols, kSymbolRows),
                                     cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Verb kVerbs[] = {
    {"evlist", "print the events of a recording", &EvlistCommand, &EvlistMain},
    {"buildid-list", "print the build ids of the binaries in a recording", &BuildIdListCommand,
     &BuildIdListMain},
    {"archive", "write the symbols of a recording to a tar, for perf", &ArchiveCommand,
     &ArchiveMain},
    {"diff", "compare the shares of symbols in recordings", &DiffCommand, &DiffMain},
    {"inject", "copy a recording with the build ids of its binaries", &InjectCommand, &InjectMain},
    {"list", "print the events that can be recorded here", &ListCommand, &ListMain},
    {"version", "print the version of perf that perftape is compatible with", &VersionCommand,
     &VersionMain},
};

constexpr cli::Example kExamples[] = {
    {"perftape-perf evlist -v -i perf.data", "how the events were recorded"},
    {"perftape-perf buildid-list -H -i perf.data", "the binaries with samples"},
    {"perftape-perf help top", "what replaces a command of perf"},
};

constexpr cli::Command kPerfCommandLine = {
    .name = "perftape-perf",
    .purpose = "Run a command of perf: with perf's options, output and defaults.",
    .operands = "COMMAND [ARGUMENT...]",
    .options = kOptions,
    .order = cli::Order::kOptionsFirst,
    .operand_completion = cli::Completion::kNothing,
    .examples = kExamples,
    .epilogue =
        "'perftape-perf record' and 'report' run these tools. 'help COMMAND' says what replaces\n"
        "the other commands of perf. Started under the name perf, it is a perf.\n",
    .verbs = kVerbs,
};

}  // namespace

const cli::Command& PerfCommandLine() {
  return kPerfCommandLine;
}

}  // namespace perftape::perf_tool
