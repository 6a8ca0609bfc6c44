// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convert/bundle_check/bundle_check.h"
#include "convert/import/from_perfdata.h"
#include "formats/base/counted.h"
#include "formats/base/input.h"
#include "formats/bundle/embedding.h"
#include "formats/json/write.h"
#include "tools/bundle/open.h"
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::bundle_tool {
namespace {

struct VerifyPlan : cli::BaseOptions {
  std::string bundle;
  std::string recording;
  bool as_json = false;
};

constexpr cli::Option kVerifyOutputRows[] = {
    cli::JsonRow("print the result as one JSON object", cli::Set<&VerifyPlan::as_json>),
};

constexpr cli::Option kVerifyOtherRows[] = {
    cli::QuietRow("print nothing if no problem is found"),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kVerifyOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kVerifyOutputRows),
                                           cli::InGroup(cli::Group::kOther, kVerifyOtherRows));

constexpr cli::Example kVerifyExamples[] = {
    {"perftape-bundle verify perf.data", "the bundle in a recording"},
    {"perftape-bundle verify symbols.tar.zst perf.data", "a bundle in a separate file"},
};

constexpr cli::Command kVerifyCommand = {
    .name = "perftape-bundle verify",
    .purpose =
        "Check a bundle against its manifest, and against PERF.DATA or the recording that contains "
        "it: every file that was sampled must be in the bundle.",
    .operands = "BUNDLE [PERF.DATA]",
    .options = kVerifyOptions,
    .examples = kVerifyExamples,
    .epilogue = "Exit status: 0 no problem, 1 failure, 2 wrong usage, 3 a problem was found.\n",
};

Result<VerifyPlan> VerifyPlanOf(VerifyPlan plan) {
  if (plan.operands.empty() || plan.operands.size() > 2) {
    return Fail(ErrorCode::kInvalidArgument,
                "expected one or two operands: a bundle, and a perf.data");
  }
  plan.bundle = plan.operands.front();
  if (plan.operands.size() == 2) plan.recording = plan.operands.back();
  return plan;
}

// Returns the recording to check the bundle against; nothing if there is none.
Result<std::optional<Input>> RecordingOf(const VerifyPlan& plan) {
  if (plan.recording.empty() && plan.bundle == "-") return std::nullopt;
  TRY_ASSIGN(Input input, Input::Open(plan.recording.empty() ? plan.bundle : plan.recording));
  if (plan.recording.empty() && !bundle::IsPerfData(input.beginning())) return std::nullopt;
  return input;
}

Result<bundle_check::Coverage> CoverageBy(Input& recording, const bundle::Bundle& bundle,
                                          cli::Console& console) {
  convert::ImportReport report;
  auto profile = convert::ReadPerfData(recording, {}, report);
  if (!profile) return Fail(InContext(recording.name(), std::move(profile).error()));
  for (const std::string& problem : report.problems) {
    console.Warning(fmt::format("{}: {}", recording.name(), problem));
  }
  return bundle_check::CoverageOf(bundle, *profile);
}

struct Findings {
  std::vector<std::string> contradictions;
  std::optional<bundle_check::Coverage> coverage = {};

  bool are_none() const {
    return contradictions.empty() && (!coverage || coverage->missing.empty());
  }
};

std::string FindingsText(const bundle::Bundle& bundle, const Findings& findings) {
  std::string text;
  for (const std::string& line : findings.contradictions) {
    text += cli::EscapeForTerminal(line) + "\n";
  }
  text += fmt::format("{} in the bundle, {}\n", Counted(bundle.manifest().files.size(), "file"),
                      findings.contradictions.empty()
                          ? "all as in the manifest"
                          : Counted(findings.contradictions.size(), "contradiction"));
  if (!findings.coverage) return text;
  for (const bundle_check::Uncovered& file : findings.coverage->missing) {
    text += fmt::format("{}: {} ({} sampled)\n", cli::EscapeForTerminal(file.path),
                        cli::EscapeForTerminal(file.reason), Counted(file.addresses, "location"));
  }
  const std::size_t missing = findings.coverage->missing.size();
  return text + fmt::format("{} sampled, {}\n", Counted(findings.coverage->files, "file"),
                            missing == 0
                                ? "all in the bundle"
                                : fmt::format("{} of them missing from the bundle", missing));
}

std::string FindingsJson(const bundle::Bundle& bundle, const Findings& findings) {
  json::Value json = {cli::SchemaMember(cli::kBundleVerifySchema)};
  json["files"] = bundle.manifest().files.size();
  json["contradictions"] = findings.contradictions;
  if (findings.coverage) {
    json["files_hit"] = findings.coverage->files;
    json["missing"] = json::Value::EmptyList();
    for (const bundle_check::Uncovered& file : findings.coverage->missing) {
      json["missing"].push_back({{"path", file.path},
                                 {"build_id", file.build_id},
                                 {"places", file.addresses},
                                 {"reason", file.reason}});
    }
  }
  return json::Text(json, json::Layout::kIndented);
}

Status Confine(const VerifyPlan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.bundle, grants);
  sandbox::GrantInput(plan.recording, grants);
  return sandbox::Confine(grants);
}

Result<int> Run(const VerifyPlan& plan, cli::Console& console) {
  TRY_ASSIGN(const bundle::Bundle bundle, OpenNamed(plan.bundle, console));
  TRY_ASSIGN(std::optional<Input> recording, RecordingOf(plan));
  Findings findings{.contradictions = bundle_check::FindContradictions(bundle)};
  if (recording) {
    TRY_ASSIGN(findings.coverage, CoverageBy(*recording, bundle, console));
  }
  if (plan.as_json) {
    TRY(cli::PrintToStdout(FindingsJson(bundle, findings)));
  } else if (console.verbosity() != cli::Verbosity::kQuiet || !findings.are_none()) {
    TRY(cli::PrintToStdout(FindingsText(bundle, findings)));
  }
  return findings.are_none() ? cli::kDone : cli::kDegraded;
}

}  // namespace

const cli::Command& VerifyCommand() {
  return kVerifyCommand;
}

int VerifyMain(int argc, char** argv) {
  return cli::Main<VerifyPlan>({kVerifyCommand, &VerifyPlanOf, &Run, &Confine, true}, argc, argv);
}

}  // namespace perftape::bundle_tool
