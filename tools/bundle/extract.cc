// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/extract.h"

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "convert/bundle_check/bundle_check.h"
#include "formats/base/counted.h"
#include "tools/bundle/open.h"
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::bundle_tool {
namespace {

struct ExtractPlan : cli::BaseOptions {
  std::string bundle;
  std::filesystem::path directory;
  bool all = false;
  bundle::ExtractOptions options;
};

constexpr cli::Option kExtractOutputRows[] = {
    {.name = "directory",
     .letter = 'C',
     .argument = "DIR",
     .help = "write to DIR instead of ~/.debug; DIR is created if needed",
     .completion = cli::Completion::kDirectory,
     .into = cli::StoreAs<&cli::ParseDirectory, &ExtractPlan::directory>},
    {.name = "all",
     .help = "also write files that this machine already has with the same build id",
     .into = cli::Set<&ExtractPlan::all>},
    cli::ForceRow(
        cli::SetTo<IfExists::kReplace, &ExtractPlan::options, &bundle::ExtractOptions::if_exists>,
        "replace existing files that differ"),
};

constexpr cli::Option kExtractOtherRows[] = {
    cli::QuietRow(),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kExtractOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kExtractOutputRows),
                                            cli::InGroup(cli::Group::kOther, kExtractOtherRows));

constexpr cli::Example kExtractExamples[] = {
    {"perftape-bundle extract perf.data && perf report", "give perf the symbols"},
    {"perftape-bundle extract -C symbols perf.data && perf --buildid-dir symbols report",
     "into another directory"},
};

constexpr cli::Command kExtractCommand = {
    .name = "perftape-bundle extract",
    .purpose =
        "Write the files of a bundle to ~/.debug, perf's build-id cache, where perf report finds "
        "their names.",
    .operands = "BUNDLE",
    .options = kExtractOptions,
    .examples = kExtractExamples,
    .epilogue =
        "Files that this machine already has are skipped: copies without code would hide them\n"
        "from perf annotate. 'perftape-bundle clean' removes what was written.\n",
};

Result<ExtractPlan> ExtractPlanOf(ExtractPlan plan) {
  TRY_ASSIGN(plan.bundle, OnlyBundle(plan));
  if (!plan.all) plan.options.is_on_machine = &bundle_check::IsOnMachine;
  if (plan.directory.empty()) plan.directory = DefaultBuildIdCache();
  if (plan.directory.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "HOME is not set: use -C DIR");
  }
  return plan;
}

Status Confine(const ExtractPlan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.bundle, grants);
  sandbox::GrantDirectory(plan.directory, 0777, grants);
  // Files of this machine are compared with those in the bundle.
  if (!plan.all) sandbox::GrantInput("/", grants);
  return sandbox::Confine(grants);
}

Result<int> Run(const ExtractPlan& plan, cli::Console& console) {
  TRY_ASSIGN(const bundle::Bundle bundle, OpenNamed(plan.bundle, console));
  TRY_ASSIGN(const bundle::ExtractReport report,
             bundle::Extract(bundle, plan.directory, plan.options));
  console.Plain(fmt::format("{}: wrote {} ({} bytes), {} existed already", plan.directory.native(),
                            Counted(report.written, "member"), report.bytes, report.already_there));
  if (report.on_machine > 0) {
    console.Plain(fmt::format("{} skipped: this machine already has {} (--all also writes {})",
                              Counted(report.on_machine, "file"),
                              report.on_machine == 1 ? "it" : "them",
                              report.on_machine == 1 ? "it" : "them"));
  }
  for (const std::string& name : report.kept) {
    console.Warning(fmt::format("{}: {}: exists and differs: use -f to replace it",
                                plan.directory.native(), name));
  }
  const bool is_whole = report.kept.empty() && bundle.passed_over().sum() == 0;
  return is_whole ? cli::kDone : cli::kDegraded;
}

}  // namespace

const cli::Command& ExtractCommand() {
  return kExtractCommand;
}

int ExtractMain(int argc, char** argv) {
  return cli::Main<ExtractPlan>({kExtractCommand, &ExtractPlanOf, &Run, &Confine, true}, argc,
                                argv);
}

}  // namespace perftape::bundle_tool
