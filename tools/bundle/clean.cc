// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/clean.h"

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "formats/base/counted.h"
#include "tools/bundle/open.h"
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/rows.h"

namespace perftape::bundle_tool {
namespace {

struct CleanPlan : cli::BaseOptions {
  std::filesystem::path directory;
  bool is_default = false;
};

constexpr cli::Option kCleanInputRows[] = {
    {.name = "buildid-dir",
     .argument = "DIR",
     .help = "clean DIR instead of ~/.debug",
     .completion = cli::Completion::kDirectory,
     .into = cli::StoreAs<&cli::ParseDirectory, &CleanPlan::directory>},
};

constexpr cli::Option kCleanOtherRows[] = {
    cli::QuietRow(),
};
constexpr auto kCleanOptions = cli::Table(cli::InGroup(cli::Group::kInput, kCleanInputRows),
                                          cli::InGroup(cli::Group::kOther, kCleanOtherRows));

constexpr cli::Example kCleanExamples[] = {
    {"perftape-bundle clean", "clean ~/.debug"},
    {"perftape-bundle clean --buildid-dir symbols", "clean another directory"},
};

constexpr cli::Command kCleanCommand = {
    .name = "perftape-bundle clean",
    .purpose =
        "Remove from ~/.debug the files that were extracted from bundles, the links to them, and "
        "directories that become empty. Files that perf wrote stay.",
    .operands = "",
    .options = kCleanOptions,
    .operand_completion = cli::Completion::kNothing,
    .examples = kCleanExamples,
};

Result<CleanPlan> CleanPlanOf(CleanPlan plan) {
  if (!plan.operands.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "unexpected operand: use --buildid-dir DIR to clean another cache than ~/.debug");
  }
  if (!plan.directory.empty()) return plan;
  plan.directory = DefaultBuildIdCache();
  plan.is_default = true;
  if (plan.directory.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "HOME is not set: use --buildid-dir DIR");
  }
  return plan;
}

Result<int> Run(const CleanPlan& plan, cli::Console& console) {
  auto cleaned = bundle::Clean(plan.directory);
  const bool has_no_cache = !cleaned && cleaned.error().code == ErrorCode::kNotFound;
  if (plan.is_default && has_no_cache) cleaned = bundle::CleanReport{};
  if (!cleaned) return Fail(std::move(cleaned).error());
  const std::string& directory = plan.directory.native();
  console.Plain(fmt::format("{}: removed {} ({} bytes) and {}", directory,
                            Counted(cleaned->files, "file"), cleaned->bytes,
                            Counted(cleaned->links, "link")));
  for (const std::string& name : cleaned->kept) {
    console.Warning(
        fmt::format("{}: {}: kept, because it was replaced after the extraction", directory, name));
  }
  return cli::kDone;
}

}  // namespace

const cli::Command& CleanCommand() {
  return kCleanCommand;
}

int CleanMain(int argc, char** argv) {
  return cli::Main<CleanPlan>({kCleanCommand, &CleanPlanOf, &Run}, argc, argv);
}

}  // namespace perftape::bundle_tool
