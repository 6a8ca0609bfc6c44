// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "convert/formats.h"
#include "convert/timeline/switches.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/options.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/format_options.h"
#include "tools/common/profiles/symbol_options.h"
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
  if (std::ranges::count(plan.inputs, "-") + std::ranges::count(plan.base, "-") > 1) {
    return Usage("-: stdin can be read only once");
  }
  if (plan.shard) {
    TRY_ASSIGN(const Shard shard, ParseShard(*plan.shard, EnvironmentVariable));
    plan.inputs = PartOf(plan.inputs, shard);
  }
  return {};
}

// Whether the output has the differences between two profiles.
bool MakesDifference(const Plan& plan) {
  return !plan.base.empty() || plan.time_view.against;
}

std::string_view DiffOption(const Plan& plan) {
  if (plan.differential) return "--differential";
  return plan.base.empty() ? "--against" : "--diff";
}

// Other formats have no place for a second number, and a table of differences is a report.
Status CheckDiffOutput(const Plan& plan) {
  if (!MakesDifference(plan)) return {};
  constexpr std::array kFormats = {convert::kHtmlFormat, convert::kSvgFormat,
                                   convert::kFoldedFormat};
  if (plan.to != nullptr && std::ranges::find(kFormats, plan.to->name) != kFormats.end()) return {};
  return Usage(fmt::format(
      "{0} draws a flame graph: use -o FILE.html, FILE.svg or FILE.folded; perftape-report {0}{1} "
      "prints the differences as a table",
      DiffOption(plan), plan.base.empty() ? "" : " OLD NEW"));
}

// Returns "-o profile.html" if that is an operand and no file, but the name of an output.
std::string OutputProposal(const Plan& plan) {
  std::error_code error;
  const std::string last = plan.operands.size() < 2 ? "" : plan.operands.back();
  const convert::Format* const format = convert::FormatByFileName(last);
  const bool is_output =
      format != nullptr && cli::CanWrite(*format) && !std::filesystem::exists(last, error);
  return is_output ? "-o " + cli::EscapeForTerminal(last) : "-o FILE";
}

Status FindOutputFormat(Plan& plan) {
  if (plan.output.empty()) {
    TRY(CheckDiffOutput(plan));
    if (plan.kernel_names == anonymize::KernelNames::kKept && !plan.anonymize) {
      return Fail(ErrorCode::kInvalidArgument, "--keep-kernel-names needs --anonymize");
    }
    if (plan.to == nullptr) {
      return Usage(
          fmt::format("no output given: use {}, or --to FORMAT for stdout", OutputProposal(plan)));
    }
    plan.output = "-";
  }
  if (plan.to != nullptr) return {};
  plan.to = convert::FormatByFileName(plan.output.native());
  if (plan.to != nullptr && cli::CanWrite(*plan.to)) return {};
  return Usage(fmt::format("-o {}: the ending of the name does not select a format: use --to {}",
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
  if (!plan.to->holds_one_value && !plan.to->prefers_one_event) {
    return Usage(fmt::format(
        "-o {}: {} contains all events: leave out %e, or write %%e for a percent sign and an e",
        plan.output.native(), plan.to->name));
  }
  if (plan.differential || MakesDifference(plan)) {
    return Usage(fmt::format("-o {}: {} writes two events into one file: leave out %e",
                             plan.output.native(), DiffOption(plan)));
  }
  return {};
}

// A page shows one recording over time. Several have no common clock.
Status ReadTimesForPage(Plan& plan) {
  const cli::TimeView view = plan.time_view.view;
  const bool has_lanes =
      view == cli::TimeView::kNone || view == cli::TimeView::kWall || view == cli::TimeView::kPath;
  const bool is_possible = plan.to->name == convert::kHtmlFormat && plan.inputs.size() == 1 &&
                           !MakesDifference(plan) && !plan.differential && has_lanes;
  if (!is_possible && plan.time_on_page == TimeOnPage::kAlways) {
    return Usage(
        "--time-view always: a page can show only one recording over time, and none with --diff, "
        "--against, --latency and --parallelism");
  }
  if (!is_possible || plan.time_on_page == TimeOnPage::kNever) return {};
  plan.time_view.at_times = view != cli::TimeView::kNone;
  // These two views need all times, and have asked for them.
  if (plan.time_view.at_times) return {};
  plan.import.time_label = true;
  plan.import.thread_switches = true;
  if (plan.time_on_page == TimeOnPage::kShort) {
    plan.import.most_timed_samples = kMostTimedSamples;
    plan.import.most_exact_times = kMostExactTimes;
  }
  for (const std::string_view field : timeline::kSwitchFields) {
    plan.import.field_labels.emplace_back(field);
  }
  return {};
}

}  // namespace

Status Confine(const Plan& plan) {
  std::vector<std::filesystem::path> inputs = plan.inputs;
  inputs.insert(inputs.end(), plan.base.begin(), plan.base.end());
  sandbox::FileGrants grants;
  for (const std::filesystem::path& input : inputs) sandbox::GrantInput(input, grants);
  if (plan.anonymize) sandbox::GrantInput(*plan.anonymize, grants);
  sandbox::GrantOutput(plan.output, grants);
  sandbox::GrantDirectory(plan.write.perfdata.symbol_dir, 0777, grants);
  if (plan.symbols == Symbols::kLookUp) {
    cli::GrantSymbolSources(plan.symbol_options, inputs, grants);
  }
  return sandbox::Confine(grants);
}

Result<Plan> PlanOf(Plan plan) {
  TRY(FindInputs(plan));
  TRY(FindOutputFormat(plan));
  TRY(CheckDiffOutput(plan));
  TRY(ReadOutputName(plan));
  TRY(cli::CheckAppliesTo(plan, "--to", plan.to->name));
  const Result<OutputTarget> target = ResolveOutput(plan.output);
  if (target && target->is_stream()) plan.normalize.container = perfdata::Container::kPipe;
  plan.write.perfdata.container = plan.normalize.container;
  plan.write.perfdata.compression_level = plan.normalize.compression_level;
  plan.write.folded.value = plan.values ? plan.values : plan.to->default_value;
  plan.write.folded.differential = plan.differential;
  plan.import.differential = plan.differential;
  plan.write.folded.threads = plan.threads;
  plan.import.threads = plan.threads;
  plan.import.cpu_label = plan.labels.contains({.label = SampleLabel::kCpu});
  plan.import.cgroup_label = plan.labels.contains({.label = SampleLabel::kCgroup});
  plan.import.container_labels = plan.labels.contains({.label = SampleLabel::kPod});
  plan.import.service_labels = plan.labels.contains({.label = SampleLabel::kService}) ||
                               plan.to->name == convert::kOtlpFormat;  // it has a field for them
  for (const LabelRequest& request : plan.labels) {
    if (request.label == SampleLabel::kField) plan.import.field_labels.push_back(request.field);
  }
  if (MakesDifference(plan)) plan.write.folded.differential = true;
  plan.write.folded.per_window = plan.time_view.against.has_value();
  plan.import.first_times = plan.to->shows_times;
  plan.import.time_label =
      plan.to->has_sample_times || plan.labels.contains({.label = SampleLabel::kTime});
  plan.import.cpu_label |= plan.to->has_sample_times;
  TRY(cli::FinishTimeViewOptions(plan.inputs.size(), plan));
  TRY(ReadTimesForPage(plan));
  cli::FinishSymbolOptions(plan);
  TRY(cli::CheckReportOutput(plan.report_as == ReportAs::kJson, plan.output));
  return plan;
}

}  // namespace perftape::convert_tool
