// SPDX-License-Identifier: Apache-2.0
#include "tools/record/command_line.h"

#include <fmt/core.h>

#include <algorithm>

#include "record/processes/executable.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/help.h"
#include "tools/common/cli/progress.h"
#include "tools/record/control_options.h"
#include "tools/record/joint_options.h"

namespace perftape::record_tool {
namespace {

using record::BundleRequest;
using record::RecordOptions;

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// Below a microsecond, sampling would use up all the time.
Status CheckPeriod(const RecordOptions& options) {
  constexpr std::uint64_t kShortest = 1000;
  const auto* period = std::get_if<record::Period>(&options.input.rate);
  if (period == nullptr || period->count >= kShortest || !options.input.events.empty()) return {};
  return Usage(
      fmt::format("-c: {} is out of range: use {} to {}", period->count, kShortest, INT64_MAX));
}

// A command is the target only if there is no other target. `-a -- sleep 5` and `-p 7 -- sleep 5`
// record the other target for as long as the command runs, as perf does; -u and --cgroup do the
// same.
// --comm selects threads of the command.
record::Target TargetOf(const Plan& plan) {
  const auto inherit = plan.no_inherit ? record::Inherit::kNo : record::Inherit::kYes;
  if (!plan.pids.empty()) return record::ProcessTrees{plan.pids, inherit};
  if (!plan.tids.empty()) return record::Threads{plan.tids};
  const bool has_scope = plan.record.input.user || plan.record.input.scope.has_cgroups();
  if (plan.all_cpus || has_scope || plan.operands.empty()) return record::WholeSystem{};
  return record::Workload{inherit};
}

// Rejects "-z 3 -- true", where 3 would be the command.
Status CheckLevel(const Plan& plan) {
  if (!plan.compression || !plan.compression->is_left_out || plan.operands.empty()) return {};
  const std::string& command = plan.operands.front();
  if (!cli::ParseCompressionLevel("-z", command) || record::FindExecutable(command)) return {};
  return Usage(fmt::format("-z {0}: the level must be in the same word: use -z{0}", command));
}

Status CheckBundle(const RecordOptions& options) {
  const BundleRequest& bundle = options.output.bundle;
  if (bundle.file == options.output.file) return Usage("--bundle and -o name the same file");
  const bool is_inside = bundle.destination == BundleRequest::Destination::kRecording;
  if (options.output.file == "-" && options.output.sync) {
    return Usage("--sync: stdout cannot be synchronized with the disk");
  }
  if (options.output.file == "-" && is_inside && bundle.depth != record::BundleDepth::kSymbols) {
    return Usage("-o -: a recording in pipe format cannot contain a bundle: use --bundle FILE");
  }
  return {};
}

Status CheckJsonFile(const RecordRun& run) {
  if (run.json_file.empty()) return {};
  if (run.json_file == run.output.file) return Usage("--json and -o name the same file");
  if (run.json_file == run.output.bundle.file)
    return Usage("--json and --bundle name the same file");
  return {};
}

// Returns whether the words after a verb are the verb's: its options, and at most `operands` more.
// Other words are those of a command with the name of the verb. Fails if they begin with an option
// that the verb does not have.
Result<bool> BelongToVerb(const cli::Command& verb, std::span<const std::string> words,
                          std::size_t operands, cli::BaseOptions& plan) {
  const Status parsed = cli::ParseInto(verb, words, plan);
  if (!parsed && words.front().starts_with('-')) {
    return Usage(fmt::format("{}: {}", verb.name, parsed.error().message));
  }
  return parsed && plan.operands.size() <= operands;
}

// "perftape-record list [GLOB]". "./list" is a program of this name.
Status PlanList(std::span<const std::string> words, RecordRun& run) {
  EventListPlan plan;
  TRY_ASSIGN(const bool is_verb, BelongToVerb(ListCommand(), words, 1, plan));
  if (!is_verb) return {};
  run.verb_help = cli::RequestedHelp(ListCommand(), plan);
  run.listed_events = ListRequest{.form = plan.form};
  if (!plan.operands.empty()) run.listed_events->glob = plan.operands.front();
  return {};
}

// "perftape-record doctor [--json]", which perftape-doctor executes. "./doctor" is a program.
Status PlanDiagnosis(std::span<const std::string> words, RecordRun& run) {
  const cli::Command& verb = doctor_tool::DoctorVerbCommand();
  doctor_tool::Plan plan;
  TRY_ASSIGN(const bool is_verb, BelongToVerb(verb, words, 0, plan));
  if (!is_verb) return {};
  run.verb_help = cli::RequestedHelp(verb, plan);
  run.diagnosis = plan.report_as;
  return {};
}

Status PlanVerb(const Plan& plan, RecordRun& run) {
  const std::span<const std::string> words = plan.operands;
  if (!words.empty() && words.front() == kListWord) return PlanList(words.subspan(1), run);
  if (!words.empty() && words.front() == doctor_tool::kDoctorWord) {
    return PlanDiagnosis(words.subspan(1), run);
  }
  const bool is_listed =
      std::ranges::find(plan.record.input.events, kListWord, &record::EventSpec::name) !=
      plan.record.input.events.end();
  if (is_listed) run.listed_events = ListRequest{};
  return {};
}

}  // namespace

Result<RecordRun> PlanOf(Plan plan) {
  RecordRun run;
  run.no_sandbox = plan.no_sandbox;
  run.shows_progress = cli::WantsProgress(plan);
  TRY(PlanVerb(plan, run));
  run.json_file = plan.json_file;
  run.max_loss = plan.max_loss;
  run.realtime = plan.realtime;
  run.dry_run = plan.dry_run;
  run.sampler = plan.sampler;
  plan.record.input.target = TargetOf(plan);
  TRY(PlanEvents(plan));
  TRY(recording::FinishRecordingOptions(plan));
  PlanPerfOptions(plan);
  RecordOptions& options = run;
  options = std::move(plan.record);
  TRY(CheckPeriod(options));
  options.command = plan.operands;
  TRY(CheckLevel(plan));
  if (plan.compression) options.output.compression_level = plan.compression->value;
  if (!options.output.bundle.file.empty())
    options.output.bundle.destination = BundleRequest::Destination::kSeparateFile;
  TRY(CheckBundle(options));
  TRY(CheckJsonFile(run));
  TRY(PlanFiles(plan, options));
  FinishControl(options);
  return run;
}

}  // namespace perftape::record_tool
