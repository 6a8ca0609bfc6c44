// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tools/common/cli/choices.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/format_options.h"
#include "tools/common/profiles/symbol_grants.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/convert/event_files.h"
#include "tools/convert/inputs.h"

namespace perftape::convert_tool {
namespace {

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

std::optional<std::string> EnvironmentVariable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Status FindInputs(Plan& plan) {
  plan.inputs.assign(plan.operands.begin(), plan.operands.end());
  for (const std::string& list : plan.lists) {
    TRY_ASSIGN(const auto listed, ReadFilesFrom0(list));
    plan.inputs.insert(plan.inputs.end(), listed.begin(), listed.end());
  }
  if (plan.inputs.empty() && plan.lists.empty()) {
    return Usage("no input files given: name files, or - for stdin");
  }
  if (std::ranges::count(plan.inputs, "-") > 1) return Usage("-: stdin can be read only once");
  if (plan.shard) {
    TRY_ASSIGN(const Shard shard, ParseShard(*plan.shard, EnvironmentVariable));
    plan.inputs = PartOf(plan.inputs, shard);
  }
  return {};
}

Status FindOutputFormat(Plan& plan) {
  if (plan.output.empty()) {
    if (plan.to == nullptr) return Usage("no output given: use -o FILE, or --to FORMAT for stdout");
    plan.output = "-";
  }
  if (plan.to != nullptr) return {};
  plan.to = convert::FormatByEnding(plan.output.native());
  if (plan.to != nullptr && cli::CanWrite(*plan.to)) return {};
  return Usage(fmt::format("-o {}: the ending of the name selects no format: use --to {}",
                           plan.output.native(),
                           cli::OffersText(cli::OutputFormats(), cli::Notes::kHide)));
}

// Interprets %e and %% in the name of the output.
Status ReadOutputName(Plan& plan) {
  if (plan.output == "-") return {};
  plan.file_per_event = NamesEvent(plan.output);
  if (!plan.file_per_event) {
    plan.output = ExpandOutput(plan.output, "");
    return {};
  }
  if (!plan.to->holds_one_value) {
    return Usage(
        fmt::format("-o {}: {} holds all events: leave out %e, or write %%e for a "
                    "percent sign and an e",
                    plan.output.native(), plan.to->name));
  }
  if (plan.differential) {
    return Usage(fmt::format("-o {}: --differential writes two events into one file: leave out %e",
                             plan.output.native()));
  }
  return {};
}

}  // namespace

Status Confine(const Plan& plan) {
  sandbox::FileGrants grants;
  for (const std::filesystem::path& input : plan.inputs) sandbox::GrantInput(input, grants);
  sandbox::GrantOutput(plan.output, grants);
  sandbox::GrantDirectory(plan.write.perfdata.symbol_dir, 0777, grants);
  if (plan.symbols == Symbols::kLookUp) {
    cli::GrantSymbolSources(plan.symbol_options, plan.inputs, grants);
  }
  return sandbox::Confine(grants);
}

Result<Plan> PlanOf(Plan plan) {
  TRY(FindInputs(plan));
  TRY(FindOutputFormat(plan));
  TRY(ReadOutputName(plan));
  TRY(cli::CheckAppliesTo(plan, "--to", plan.to->name));
  const Result<OutputTarget> target = ResolveOutput(plan.output);
  if (target && target->is_stream()) plan.normalize.container = perfdata::Container::kPipe;
  plan.write.perfdata.container = plan.normalize.container;
  plan.write.perfdata.compression_level = plan.normalize.compression_level;
  plan.write.folded.differential = plan.differential;
  plan.import.differential = plan.differential;
  plan.write.folded.threads = plan.threads;
  plan.import.threads = plan.threads;
  plan.import.cpu_label = plan.labels.contains({.label = SampleLabel::kCpu});
  plan.import.cgroup_label = plan.labels.contains({.label = SampleLabel::kCgroup});
  for (const LabelRequest& request : plan.labels) {
    if (request.label == SampleLabel::kField) plan.import.field_labels.push_back(request.field);
  }
  cli::FinishSymbolOptions(plan);
  TRY(cli::CheckReportOutput(plan.report_as == ReportAs::kJson, plan.output));
  return plan;
}

}  // namespace perftape::convert_tool
