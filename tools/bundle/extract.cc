// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/extract.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "formats/bundle/extract.h"
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
        "Examples:\n"
        "  perftape-bundle extract perf.data && perf report\n"
        "  perftape-bundle extract -C symbols perf.data && perf --buildid-dir symbols "
        "report\n"};

struct Plan {
  std::string bundle;
  std::filesystem::path directory = {};
  IfExists if_exists = IfExists::kRefuse;
};

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  if (parsed.operands().size() != 1) return Fail(ErrorCode::kInvalidArgument, "which bundle?");
  Plan plan{.bundle = parsed.operands().front()};
  if (parsed.Has("force")) plan.if_exists = IfExists::kReplace;
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (const auto directory = parsed.Value("directory")) {
    plan.directory = *directory;
  } else if (home != nullptr && *home != '\0') {
    plan.directory = std::filesystem::path(home) / ".debug";
  }
  if (plan.directory.empty()) return Fail(ErrorCode::kInvalidArgument, "where to? -C DIR");
  return plan;
}

Result<int> Run(const Plan& plan, cli::Console& console) {
  TRY_ASSIGN(const bundle::Bundle bundle, OpenNamed(plan.bundle, console));
  TRY_ASSIGN(const bundle::ExtractReport report,
             bundle::Extract(bundle, plan.directory, plan.if_exists));
  console.Plain(fmt::format("{}: wrote {} ({} bytes), {} there already", plan.directory.native(),
                            cli::Counted(report.written, "member"), report.bytes,
                            report.already_there));
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
