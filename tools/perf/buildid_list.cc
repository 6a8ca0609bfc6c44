// SPDX-License-Identifier: Apache-2.0
// perf buildid-list (tools/perf/builtin-buildid-list.c of Linux 6.1).
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "convert/records/binary_list.h"
#include "formats/base/file.h"
#include "formats/elf/build_id.h"
#include "formats/perfdata/mapping_name.h"
#include "record/machine/kernel_maps.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/perf/input.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

enum class BuildIdSource : std::uint8_t { kRecording, kKernel, kKernelMaps };

struct BuildIdListPlan : cli::BaseOptions {
  std::string input;
  BuildIdSource source = BuildIdSource::kRecording;
  bool with_hits = false, force = false;
};

constexpr cli::Option kBuildIdInputRows[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "read FILE (default perf.data), a recording or an ELF file",
     .completion = cli::Completion::kFile,
     .into = cli::Store<&BuildIdListPlan::input>},
    {.name = "kernel",
     .letter = 'k',
     .help = "print the build id of the running kernel",
     .into = cli::SetTo<BuildIdSource::kKernel, &BuildIdListPlan::source>},
    {.name = "kernel-maps",
     .letter = 'm',
     .help = "print the build ids and addresses of the running kernel and its modules",
     .into = cli::SetTo<BuildIdSource::kKernelMaps, &BuildIdListPlan::source>},
    {.name = "force",
     .letter = 'f',
     .help = "accepted without effect: the owner of a file is never checked",
     .is_rare = true,
     .into = cli::Set<&BuildIdListPlan::force>},
};

constexpr cli::Option kBuildIdOutputRows[] = {
    {.name = "with-hits",
     .letter = 'H',
     .help = "print only binaries that contain the address of a sample",
     .into = cli::Set<&BuildIdListPlan::with_hits>},
};

constexpr cli::Option kBuildIdOtherRows[] = {
    cli::VerboseRow("accepted without effect: warnings are always printed"),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kBuildIdOptions = cli::Table(cli::InGroup(cli::Group::kInput, kBuildIdInputRows),
                                            cli::InGroup(cli::Group::kOutput, kBuildIdOutputRows),
                                            cli::InGroup(cli::Group::kOther, kBuildIdOtherRows));

constexpr cli::Example kBuildIdExamples[] = {
    {"perftape-perf buildid-list -i perf.data", "the binaries of a recording"},
    {"perftape-perf buildid-list -H -i perf.data", "only those with samples"},
};

constexpr cli::Command kBuildIdCommand = {
    .name = "perftape-perf buildid-list",
    .purpose = "Print the build ids in a perf.data, as perf buildid-list does.",
    .operands = "",
    .options = kBuildIdOptions,
    .operand_completion = cli::Completion::kNothing,
    .examples = kBuildIdExamples,
};

Result<BuildIdListPlan> BuildIdListPlanOf(BuildIdListPlan plan) {
  TRY(RefuseOperands(plan));
  if (plan.source == BuildIdSource::kRecording) plan.input = InputOrDefault(plan.input);
  return plan;
}

Status Confine(const BuildIdListPlan& plan) {
  // Modules are below /sys/module and /lib/modules.
  if (plan.source == BuildIdSource::kKernelMaps) return sandbox::ConfineCalls();
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.input, grants);
  return sandbox::Confine(grants);
}

Result<BuildId> BuildIdIn(const std::string& notes_file) {
  TRY_ASSIGN(const std::string notes, ReadWholeFile(notes_file));
  return elf::BuildIdFromNotes(AsBytes(notes));
}

// Returns a line for the kernel and each module.
Result<std::string> KernelMapsText() {
  std::vector<std::byte> maps;
  TRY_ASSIGN(const std::vector<std::string> warnings, record::AppendKernelMaps({}, {}, maps));
  if (maps.empty() && !warnings.empty()) return Fail(ErrorCode::kPermission, warnings.front());
  std::string text;
  perfdata::RecordCursor records(maps, 0, std::endian::native);
  while (true) {
    TRY_ASSIGN(const std::optional<perfdata::RecordView> record, records.Next());
    if (!record) return text;
    if (record->type != perfdata::RecordType::kMmap) continue;
    TRY_ASSIGN(const perfdata::Mmap map, perfdata::Decode<perfdata::Mmap>(*record, {}));
    const std::string module = perfdata::ModuleNameOf(map.filename);
    const Result<BuildId> id =
        BuildIdIn(module.empty() ? "/sys/kernel/notes"
                                 : "/sys/module/" + module + "/notes/.note.gnu.build-id");
    text +=
        fmt::format("{} {:16x} {:16x} {}\n", id ? id->hex() : "", map.start, map.start + map.length,
                    module.empty() ? perfdata::kKernelMappingName : map.filename);
  }
}

// Returns the line for an ELF file; nothing for any other file.
std::optional<std::string> ElfText(const std::string& path) {
  const Result<BuildId> id = elf::ReadBuildId(path);
  if (!id || id->empty()) return std::nullopt;
  return id->hex() + "\n";
}

// perf lists only binaries with samples if there is no table of build ids, as in a pipe.
Result<std::string> RecordingText(const perfdata::Reader& reader, bool with_hits) {
  using perfdata::FeatureBit;
  // The samples of an AUX trace are not in the records.
  if (reader.feature(FeatureBit::kAuxtrace)) with_hits = false;
  if (!reader.feature(FeatureBit::kBuildId)) with_hits = true;
  TRY_ASSIGN(const auto binaries,
             records::ListBinaries(reader, with_hits ? records::BinaryScan::kRecords
                                                     : records::BinaryScan::kFeature));
  std::string text;
  for (const records::ListedBinary& binary : binaries) {
    if (with_hits && !binary.is_sampled) continue;
    text += fmt::format("{:<40} {}\n", binary.build_id.hex(), cli::EscapeForTerminal(binary.path));
  }
  return text;
}

Result<std::string> TextOf(const BuildIdListPlan& plan) {
  if (plan.source == BuildIdSource::kKernelMaps) return KernelMapsText();
  if (plan.source == BuildIdSource::kKernel) {
    TRY_ASSIGN(const BuildId id, BuildIdIn("/sys/kernel/notes"));
    return id.hex() + "\n";
  }
  if (plan.input != "-") {
    if (std::optional<std::string> text = ElfText(plan.input)) return *std::move(text);
  }
  TRY_ASSIGN(const Recording recording, Recording::Open(plan.input));
  return RecordingText(recording.reader(), plan.with_hits);
}

Result<int> Run(const BuildIdListPlan& plan, cli::Console& /*console*/) {
  TRY_ASSIGN(const std::string text, TextOf(plan));
  TRY(cli::PrintToStdout(text));
  return cli::kDone;
}

}  // namespace

const cli::Command& BuildIdListCommand() {
  return kBuildIdCommand;
}

int BuildIdListMain(int argc, char** argv) {
  return cli::Main<BuildIdListPlan>({kBuildIdCommand, &BuildIdListPlanOf, &Run, &Confine, true},
                                    argc, argv);
}

}  // namespace perftape::perf_tool
