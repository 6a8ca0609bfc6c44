// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/extract.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "formats/bundle/extract.h"
#include "tools/bundle/build_id_cache.h"
#include "tools/bundle/on_machine.h"
#include "tools/bundle/open.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/count.h"

namespace perftape::bundle_tool {
namespace {

constexpr cli::Option kOptions[] = {
    {.name = "directory",
     .letter = 'C',
     .argument = "DIR",
     .help = "where to, instead of ~/.debug; made where it is not there",
     .completion = cli::Completion::kFile},
    {.name = "all", .help = "also files that this machine has with the same build id"},
    {.name = "force", .letter = 'f', .help = "replace files that are there and differ"},
    {.name = "quiet", .letter = 'q', .help = "tell nothing where it went well"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-bundle extract",
    .purpose =
        "Write a bundle's files into ~/.debug, perf's cache by build id: perf report then "
        "has their names.",
    .operands = "BUNDLE",
    .options = kOptions,
    .epilogue =
        "Files that this machine has itself are skipped: copies without code would hide them from\n"
        "perf annotate. 'perftape-bundle clean' removes what was written.\n"
        "Examples:\n"
        "  perftape-bundle extract perf.data && perf report\n"
        "  perftape-bundle extract -C symbols perf.data && perf --buildid-dir symbols "
        "report\n"};

struct Plan {
  std::string bundle;
  std::filesystem::path directory = {};
  bundle::ExtractOptions options = {};
};

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  if (parsed.operands().size() != 1) return Fail(ErrorCode::kInvalidArgument, "which bundle?");
  Plan plan{.bundle = parsed.operands().front()};
  if (parsed.Has("force")) plan.options.if_exists = IfExists::kReplace;
  if (!parsed.Has("all")) plan.options.is_on_machine = &IsOnMachine;
  const auto directory = parsed.Value("directory");
  plan.directory = directory ? std::filesystem::path(*directory) : DefaultBuildIdCache();
  if (plan.directory.empty()) return Fail(ErrorCode::kInvalidArgument, "where to? -C DIR");
  return plan;
}

Result<int> Run(const Plan& plan, cli::Console& console) {
  TRY_ASSIGN(const bundle::Bundle bundle, OpenNamed(plan.bundle, console));
  TRY_ASSIGN(const bundle::ExtractReport report,
             bundle::Extract(bundle, plan.directory, plan.options));
  console.Plain(fmt::format("{}: wrote {} ({} bytes), {} there already", plan.directory.native(),
                            cli::Counted(report.written, "member"), report.bytes,
                            report.already_there));
  if (report.on_machine > 0) {
    console.Plain(fmt::format("{} skipped: this machine has {} (--all writes {}, too)",
                              cli::Counted(report.on_machine, "file"),
                              report.on_machine == 1 ? "it" : "them",
                              report.on_machine == 1 ? "it" : "them"));
  }
  for (const std::string& name : report.kept) {
    console.Warning(
        fmt::format("{}: {}: is there and differs; -f replaces it", plan.directory.native(), name));
  }
  const bool is_whole = report.kept.empty() && bundle.passed_over().sum() == 0;
  return is_whole ? cli::kDone : cli::kDegraded;
}

}  // namespace

const cli::Command& ExtractCommand() {
  return kCommand;
}

int ExtractMain(int argc, char** argv) {
  return cli::Main<Plan>({kCommand, &PlanOf, &Run}, argc, argv);
}

}  // namespace perftape::bundle_tool
