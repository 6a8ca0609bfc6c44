// SPDX-License-Identifier: Apache-2.0
// perf diff (tools/perf/builtin-diff.c of Linux 6.1), by binary and symbol.
#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convert/combine.h"
#include "convert/model/hybrid_events.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/rows.h"
#include "tools/common/profiles/input_report.h"
#include "tools/common/profiles/symbol_options.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/perf/diff_table.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

struct DiffPlan : cli::BaseOptions {
  std::vector<std::string> files;
  DiffColumn column = DiffColumn::kDeltaAbsolute;
  symbolize::SymbolOptions symbols;
  bool force = false;
};

constexpr cli::Choice<DiffColumn> kDiffColumns[] = {
    {"delta-abs", DiffColumn::kDeltaAbsolute, "default"},
    {"delta", DiffColumn::kDelta},
    {"ratio", DiffColumn::kRatio},
};

constexpr cli::Option kDiffOutputRows[] = {
    {.name = "compute",
     .letter = 'c',
     .argument = "COLUMN",
     .help = "show and sort by {choices}",
     .into = cli::StoreChoice<kDiffColumns, &DiffPlan::column>},
    cli::QuietRow("print no header and no warnings"),
};

constexpr cli::Option kDiffSymbolRows[] = {
    {.name = "symfs",
     .argument = "DIR",
     .help = "look for binaries below DIR, by their recorded paths",
     .completion = cli::Completion::kDirectory,
     .into = cli::Store<&DiffPlan::symbols, &symbolize::SymbolOptions::symfs>},
    {.name = "kallsyms",
     .argument = "FILE",
     .help = "take the names of the kernel from FILE",
     .completion = cli::Completion::kFile,
     .into = cli::Store<&DiffPlan::symbols, &symbolize::SymbolOptions::kallsyms>},
};

constexpr cli::Option kDiffOtherRows[] = {
    {.name = "force",
     .letter = 'f',
     .help = "accepted without effect: the owner of a file is never checked",
     .is_rare = true,
     .into = cli::Set<&DiffPlan::force>},
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kDiffOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kDiffOutputRows),
                                         cli::InGroup(cli::Group::kSymbols, kDiffSymbolRows),
                                         cli::InGroup(cli::Group::kOther, kDiffOtherRows));

constexpr cli::Example kDiffExamples[] = {
    {"perftape-perf diff old.data new.data", "the symbols that changed most come first"},
};

constexpr cli::Command kDiffCommand = {
    .name = "perftape-perf diff",
    .purpose =
        "Compare the shares of symbols in recordings, as perf diff does. 'perftape-report --diff' "
        "also says how exact each change is.",
    .operands = "[OLD] [NEW...]",
    .options = kDiffOptions,
    .examples = kDiffExamples,
};

// Without operands perf compares perf.data.old with perf.data; one operand is the new recording.
Result<DiffPlan> DiffPlanOf(DiffPlan plan) {
  plan.files = plan.operands;
  if (plan.files.empty()) plan.files = {"perf.data"};
  if (plan.files.size() == 1) plan.files.insert(plan.files.begin(), "perf.data.old");
  plan.symbols.source_lines = symbolize::SourceLines::kNone;
  return plan;
}

Status Confine(const DiffPlan& plan) {
  const std::vector<std::filesystem::path> inputs(plan.files.begin(), plan.files.end());
  sandbox::FileGrants grants;
  for (const std::filesystem::path& input : inputs) sandbox::GrantInput(input, grants);
  cli::GrantSymbolSources(plan.symbols, inputs, grants);
  return sandbox::Confine(grants);
}

Result<convert::Profile> ReadProfile(const std::string& file, const DiffPlan& plan, int& status,
                                     cli::Console& console) {
  convert::Combiner combiner({.symbols = plan.symbols});
  TRY_ASSIGN(Input input, convert::OpenInput(file));
  TRY(combiner.Add(std::move(input)));
  if (!cli::PrintInputProblems(combiner.inputs().back(), console)) status = cli::kDegraded;
  TRY_ASSIGN(const convert::Profile profile, std::move(combiner).Finish());
  return convert::JoinHybridEvents(profile);
}

// Returns nothing if the profile has no event of this name.
std::optional<convert::EventId> FindEvent(const convert::Profile& profile, std::string_view name) {
  const auto events = profile.events();
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (profile.text(events[i].name) == name) return convert::EventId{i};
  }
  return std::nullopt;
}

Result<int> Run(const DiffPlan& plan, cli::Console& console) {
  int status = cli::kDone;
  std::vector<convert::Profile> profiles;
  for (const std::string& file : plan.files) {
    TRY_ASSIGN(convert::Profile profile, ReadProfile(file, plan, status, console));
    profiles.push_back(std::move(profile));
  }
  std::string text;
  for (const convert::Event& event : profiles.front().events()) {
    const std::string_view name = profiles.front().text(event.name);
    std::vector<SymbolShares> shares;
    for (const convert::Profile& profile : profiles) {
      const auto found = FindEvent(profile, name);
      shares.push_back(found ? SharesOf(profile, *found) : SymbolShares());
    }
    if (!plan.quiet) {
      text +=
          fmt::format("{}# Event '{}'\n", text.empty() ? "" : "\n", cli::EscapeForTerminal(name));
    }
    text += DiffTable(shares, plan.files, plan.column, plan.quiet);
  }
  TRY(cli::PrintToStdout(text));
  return status;
}

}  // namespace

const cli::Command& DiffCommand() {
  return kDiffCommand;
}

int DiffMain(int argc, char** argv) {
  return cli::Main<DiffPlan>({kDiffCommand, &DiffPlanOf, &Run, &Confine, true}, argc, argv);
}

}  // namespace perftape::perf_tool
