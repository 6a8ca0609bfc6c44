// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "formats/base/counted.h"
#include "formats/base/input.h"
#include "formats/base/output_file.h"
#include "formats/base/progress.h"
#include "formats/bundle/bundle_writer.h"
#include "formats/perfdata/reader.h"
#include "record/symbols/recorded_hits.h"
#include "record/symbols/write_bundle.h"
#include "tools/bundle/open.h"
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::bundle_tool {
namespace {

// Slower than at the end of a recording, when the user waits.
constexpr int kCompressionLevel = 9;

struct CreatePlan : cli::BaseOptions {
  std::string recording = "perf.data";
  std::filesystem::path output;
  std::filesystem::path symfs;
  record::BundleDepth depth = record::BundleDepth::kSymbols;
  IfExists if_exists = IfExists::kRefuse;
};

constexpr cli::Option kCreateContentRows[] = {
    {.name = "debug",
     .help = "also add debug information (DWARF) if it is found",
     .conflicts = "full",
     .into = cli::SetTo<record::BundleDepth::kDebug, &CreatePlan::depth>},
    {.name = "full",
     .help = "add whole binaries instead of only their symbol and unwind tables",
     .into = cli::SetTo<record::BundleDepth::kWhole, &CreatePlan::depth>},
    {.name = "symfs",
     .argument = "DIR",
     .help = "search for the files of the recording machine below DIR, at their paths on that "
             "machine, also those without a build id",
     .completion = cli::Completion::kDirectory,
     .into = cli::StoreAs<&cli::ParseDirectory, &CreatePlan::symfs>},
};

constexpr cli::Option kCreateOutputRows[] = {
    cli::OutputRow("write the bundle to FILE (default PERF.DATA.tar.zst); - is stdout",
                   cli::StoreAs<&cli::ParseOutput, &CreatePlan::output>),
    cli::ForceRow(cli::SetTo<IfExists::kReplace, &CreatePlan::if_exists>,
                  "replace an existing FILE"),
};

constexpr cli::Option kCreateOtherRows[] = {
    cli::QuietRow(),
    cli::VerboseRow("print the name of each missing file"),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kCreateOptions = cli::Table(cli::InGroup(cli::Group::kContents, kCreateContentRows),
                                           cli::InGroup(cli::Group::kOutput, kCreateOutputRows),
                                           cli::InGroup(cli::Group::kOther, kCreateOtherRows));

constexpr cli::Example kCreateExamples[] = {
    {"perftape-bundle create", "the symbols of perf.data, in perf.data.tar.zst"},
    {"perftape-bundle create --debug -o all.tar.zst perf.data", "with source lines"},
    {"perftape-bundle create --symfs /mnt/host", "from the files of another machine"},
};

constexpr cli::Command kCreateCommand = {
    .name = "perftape-bundle create",
    .purpose =
        "Collect the files that give names to the samples of a recording. Run it on the machine "
        "where the recording was made. Recordings of perf record work, too.",
    .operands = "[PERF.DATA]",
    .options = kCreateOptions,
    .examples = kCreateExamples,
    .epilogue =
        "Binaries are read from their recorded paths, ~/.debug and debuginfod's cache. They must\n"
        "have the recorded build id; binaries without one must be unchanged. The kernel's\n"
        "symbols are read if the machine was not rebooted since.\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but symbols are missing.\n",
};

Result<CreatePlan> CreatePlanOf(CreatePlan plan) {
  if (!plan.operands.empty()) {
    TRY_ASSIGN(plan.recording, cli::OnlyInput(plan));
  }
  if (!plan.output.empty()) return plan;
  if (plan.recording == "-") {
    return Fail(ErrorCode::kInvalidArgument,
                "no output given: use -o FILE for a recording from stdin");
  }
  plan.output = cli::OutputNamed(plan.recording + ".tar.zst");
  return plan;
}

std::vector<std::filesystem::path> Caches() {
  std::vector<std::filesystem::path> caches;
  const std::filesystem::path perfs = DefaultBuildIdCache();
  if (perfs.empty()) return caches;
  caches.push_back(perfs);
  caches.push_back(perfs.parent_path() / ".cache/debuginfod_client");
  return caches;
}

Result<record::BundleSummary> Create(const CreatePlan& plan) {
  TRY_ASSIGN(Input input, Input::Open(plan.recording));
  AddInputToProgress(input.is_stream() ? 0 : input.beginning().size());
  const auto reader = perfdata::Reader::Open(input);
  if (!reader) return Fail(InContext(input.name(), reader.error()));
  record::HitFiles files(record::RoomForOpenFiles());
  const bool has_root = !plan.symfs.empty();
  const std::filesystem::path root = has_root ? plan.symfs : "/";
  record::JitFiles jit("/proc", root, 0, std::make_shared<record::OthersFiles>());
  const record::RecordedRoots roots = {.root = root,
                                       .caches = Caches(),
                                       .unidentified = has_root
                                                           ? record::Unidentified::kUseByPath
                                                           : record::Unidentified::kUseIfUnchanged};
  auto other = record::CollectRecordedHits(*reader, roots, files, jit);
  if (!other) return Fail(InContext(input.name(), std::move(other).error()));

  TRY_ASSIGN(OutputFile file, OutputFile::Create(plan.output, plan.if_exists, Readers::kOwner));
  TRY_ASSIGN(UniqueFd fd, file.Duplicate());
  TRY_ASSIGN(bundle::BundleWriter writer,
             bundle::BundleWriter::Create(std::move(fd), kCompressionLevel));
  TRY_ASSIGN(
      record::BundleSummary summary,
      record::WriteBundle(
          {.files = files, .jit = std::move(jit).ReleaseFiles(), .other_system = *std::move(other)},
          plan.depth, std::move(writer)));
  TRY(std::move(file).Commit());
  return summary;
}

// The binaries of running processes are read through /proc/PID, which Landlock refuses.
Status Confine(const CreatePlan&) {
  return sandbox::ConfineCalls();
}

Result<int> Run(const CreatePlan& plan, cli::Console& console) {
  TRY_ASSIGN(const OutputTarget target, cli::CheckOutput(plan.output, plan.if_exists));
  TRY(cli::RefuseTerminal(target, "bundle"));
  TRY_ASSIGN(const record::BundleSummary summary, Create(plan));
  console.Note(fmt::format("{}, {} bytes, stored as {} bytes in {}", Counted(summary.files, "file"),
                           summary.original_bytes, summary.bytes, target.name));
  if (summary.missing.empty()) return cli::kDone;
  console.Warning(fmt::format("no symbols found for {}", Counted(summary.missing.size(), "file")));
  for (const std::string& missing : summary.missing) console.Detail(missing);
  return cli::kDegraded;
}

}  // namespace

const cli::Command& CreateCommand() {
  return kCreateCommand;
}

int CreateMain(int argc, char** argv) {
  return cli::Main<CreatePlan>({kCreateCommand, &CreatePlanOf, &Run, &Confine, true}, argc, argv);
}

}  // namespace perftape::bundle_tool
