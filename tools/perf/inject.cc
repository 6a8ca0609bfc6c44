// SPDX-License-Identifier: Apache-2.0
// perf inject -b (tools/perf/builtin-inject.c of Linux 6.1).
#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "convert/records/binary_list.h"
#include "convert/rewrite/normalize.h"
#include "formats/base/counted.h"
#include "formats/bundle/expanded_input.h"
#include "formats/elf/build_id.h"
#include "formats/perfdata/mapping_name.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/rows.h"
#include "tools/perf/input.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

enum class InjectedBinaries : std::uint8_t { kNone, kSampled, kAll };

struct InjectPlan : cli::BaseOptions {
  std::string input = "-";
  std::filesystem::path output = "-";
  InjectedBinaries binaries = InjectedBinaries::kNone;
  bool force = false;
};

constexpr cli::Option kInjectInputRows[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "read FILE (default stdin)",
     .completion = cli::Completion::kFile,
     .into = cli::Store<&InjectPlan::input>},
    {.name = "force",
     .letter = 'f',
     .help = "accepted without effect: the owner of a file is never checked",
     .is_rare = true,
     .into = cli::Set<&InjectPlan::force>},
};

constexpr cli::Option kInjectOutputRows[] = {
    {.name = "build-ids",
     .letter = 'b',
     .help = "add the build ids of the binaries with samples, read from the files of this machine",
     .into = cli::SetTo<InjectedBinaries::kSampled, &InjectPlan::binaries>},
    {.name = "buildid-all",
     .help = "add the build ids of all binaries that were mapped",
     .into = cli::SetTo<InjectedBinaries::kAll, &InjectPlan::binaries>},
    cli::OutputRow("write to FILE (default stdout, as a pipe); an existing file is replaced",
                   cli::Store<&InjectPlan::output>),
};

constexpr cli::Option kInjectOtherRows[] = {
    cli::VerboseRow("print each binary whose build id was added"),
    cli::NoProgressRow(),
};
constexpr auto kInjectOptions = cli::Table(cli::InGroup(cli::Group::kInput, kInjectInputRows),
                                           cli::InGroup(cli::Group::kOutput, kInjectOutputRows),
                                           cli::InGroup(cli::Group::kOther, kInjectOtherRows));

constexpr std::string_view kNoMmapIds =
    "build ids stay in a table, which perf reads for every mapping";
constexpr cli::ForeignOption kInjectForeign[] = {
    {.name = "jit",
     .letter = 'j',
     .instead = "not needed: the tools read the jitdumps of a recording, and its bundle has them"},
    {.name = "convert-callchain",
     .instead = "'perftape-convert --unwind perf.data -o unwound.data' does it"},
    {.name = "mmap2-buildids", .instead = kNoMmapIds},
    {.name = "mmap2-buildid-all", .instead = kNoMmapIds},
    {.name = "sched-stat", .letter = 's', .instead = "perftape-record -e offcpu records waits"},
    {.name = "itrace", .instead = "AUX traces are not decoded"},
    {.name = "strip", .instead = "AUX traces are not decoded"},
    {.name = "guest-data", .instead = "recordings of guests are not merged"},
    {.name = "vm-time-correlation", .instead = "AUX traces are not decoded"},
};

constexpr cli::Example kInjectExamples[] = {
    {"perftape-perf inject -b -i perf.data -o with-ids.data", "for a recording without them"},
};

constexpr cli::Command kInjectCommand = {
    .name = "perftape-perf inject",
    .purpose =
        "Copy a recording, and add the build ids of its binaries, as perf inject -b does. "
        "Recordings of perftape have them.",
    .operands = "",
    .options = kInjectOptions,
    .operand_completion = cli::Completion::kNothing,
    .examples = kInjectExamples,
    .foreign = kInjectForeign,
};

Result<InjectPlan> InjectPlanOf(InjectPlan plan) {
  TRY(RefuseOperands(plan));
  if (plan.binaries == InjectedBinaries::kNone) {
    return Fail(ErrorCode::kInvalidArgument, "nothing to inject: use -b or --buildid-all");
  }
  plan.output = cli::OutputNamed(plan.output.native());
  return plan;
}

// Returns the build id of the file that has the path now, as perf does. Empty if there is none. The
// kernel may have been another one.
BuildId BuildIdNow(const std::string& path) {
  if (!perfdata::IsFilePath(path)) return {};
  return elf::ReadBuildId(path).value_or(BuildId());
}

Result<std::vector<perfdata::BuildIdEntry>> MissingIds(const perfdata::Reader& reader,
                                                       InjectedBinaries which,
                                                       cli::Console& console) {
  TRY_ASSIGN(const auto binaries, records::ListBinaries(reader, records::BinaryScan::kRecords));
  std::vector<perfdata::BuildIdEntry> entries;
  for (const records::ListedBinary& binary : binaries) {
    if (!binary.build_id.empty()) continue;
    if (which == InjectedBinaries::kSampled && !binary.is_sampled) continue;
    const BuildId id = BuildIdNow(binary.path);
    if (id.empty()) continue;
    const perfdata::MappingSource source = perfdata::SourceOf(binary.path);
    const bool is_kernel =
        source == perfdata::MappingSource::kKernel || source == perfdata::MappingSource::kModule;
    console.Detail(fmt::format("{} {}", id.hex(), binary.path));
    entries.push_back({.mode = is_kernel ? perfdata::CpuMode::kKernel : perfdata::CpuMode::kUser,
                       .build_id = id,
                       .filename = binary.path});
  }
  return entries;
}

Result<int> Run(const InjectPlan& plan, cli::Console& console) {
  TRY_ASSIGN(const OutputTarget target, cli::CheckOutput(plan.output, IfExists::kReplace));
  TRY(cli::RefuseTerminal(target, "recording"));
  TRY_ASSIGN(Input input, bundle::OpenExpanded(plan.input));
  if (input.is_stream()) TRY(input.All());
  rewrite::NormalizeOptions options;
  if (target.is_stream()) options.container = perfdata::Container::kPipe;
  {
    Result<perfdata::Reader> reader = perfdata::Reader::Open(input);
    if (!reader) return Fail(InContext(input.name(), std::move(reader).error()));
    TRY_ASSIGN(options.build_ids, MissingIds(*reader, plan.binaries, console));
  }
  TRY_ASSIGN(const rewrite::NormalizeReport report,
             rewrite::Normalize(input, plan.output, options));
  console.Note(fmt::format("added {}", Counted(options.build_ids.size(), "build id")));
  if (report.damage) console.Warning(report.damage->message);
  if (report.is_whole()) return cli::kDone;
  console.Warning("damaged records were left out; 'perftape-convert -v' lists them");
  return cli::kDegraded;
}

}  // namespace

const cli::Command& InjectCommand() {
  return kInjectCommand;
}

int InjectMain(int argc, char** argv) {
  return cli::Main<InjectPlan>({kInjectCommand, &InjectPlanOf, &Run, nullptr, true}, argc, argv);
}

}  // namespace perftape::perf_tool
