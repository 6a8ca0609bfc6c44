// SPDX-License-Identifier: Apache-2.0
// perftape-report: shows where a profile spends its time, and what changed between two.
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "convert/combine.h"
#include "convert/diagnose/facts.h"
#include "convert/diagnose/findings.h"
#include "convert/filter/filter.h"
#include "convert/model/hybrid_events.h"
#include "convert/summarize/breakdowns.h"
#include "convert/summarize/contents.h"
#include "formats/base/counted.h"
#include "formats/base/output_file.h"
#include "formats/base/progress.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/filter_options.h"
#include "tools/common/profiles/found_windows.h"
#include "tools/common/profiles/input_report.h"
#include "tools/common/profiles/symbol_report.h"
#include "tools/common/profiles/time_view_options.h"
#include "tools/mains.h"
#include "tools/report/command_line.h"
#include "tools/report/diagnosis_json.h"
#include "tools/report/diagnosis_sections.h"
#include "tools/report/diff_sections.h"
#include "tools/report/path_section.h"
#include "tools/report/perf_view.h"
#include "tools/report/report_sections.h"

namespace perftape::report_tool {
namespace {

convert::CombineOptions CombineOptionsOf(const ReportPlan& plan) {
  return {.from = plan.from,
          .import = plan.import,
          .symbols = plan.symbol_options,
          .dropped_frames =
              plan.all_frames ? convert::DroppedFrames::kKept : convert::DroppedFrames::kRemoved};
}

// Fails with kInvalidArgument if --event matches none of the events of `read`.
Status CheckEvents(const ReportPlan& plan, const std::vector<convert::InputReport>& inputs,
                   const convert::Profile& read, const convert::Profile& kept) {
  if (plan.filter.events.empty() || !kept.events().empty() || read.events().empty()) return {};
  return Fail(
      ErrorCode::kInvalidArgument,
      cli::NoEventLine(plan.filter.events, cli::EventNames(read), cli::RecordedEvents(inputs)));
}

// Reads inputs into one profile, and filters it. Sets `status` to kDegraded if one is damaged, and
// `path` with --path.
Result<convert::Profile> Read(const std::vector<std::filesystem::path>& paths,
                              const ReportPlan& plan, summarize::ReadContents& read, int& status,
                              std::optional<cli::PathFacts>& path, cli::Console& console) {
  convert::Combiner combiner(CombineOptionsOf(plan));
  for (const std::filesystem::path& name : paths) {
    TRY_ASSIGN(Input input, convert::OpenInput(name));
    TRY(combiner.Add(std::move(input)));
    if (!cli::PrintInputProblems(combiner.inputs().back(), console)) status = cli::kDegraded;
  }
  TRY_ASSIGN(convert::Profile profile, std::move(combiner).Finish());
  read = {.inputs = combiner.inputs(), .symbols = combiner.symbols()};
  for (convert::InputReport& input : read.inputs) cli::ForgetOtherTimes(plan, input);
  for (const std::string& line : cli::MappingLines(read.symbols)) console.Detail(line);
  if (plan.show_sources) {
    for (const std::string& line : cli::SymbolSourceLines(read.symbols)) console.Plain(line);
  }
  if (plan.time_view.view != cli::TimeView::kNone) {
    TRY_ASSIGN(cli::TimeViewResult view, MakeTimeView(plan, profile, read.inputs));
    cli::PrintTimeView(view, console);
    profile = std::move(view.profile);
    path = std::move(view.path);
  }
  if (!plan.filter.changes_anything()) return convert::JoinHybridEvents(profile);
  convert::FilterReport report;
  const convert::Profile kept = convert::ApplyFilter(profile, plan.filter, report);
  TRY(CheckEvents(plan, read.inputs, profile, kept));
  for (const std::string& line : cli::FilterLines(ReportCommand(), report)) console.Note(line);
  return convert::JoinHybridEvents(kept);
}

// Fails with kNotFound if --by names a label that no sample has, and no event as a field.
Status CheckLabels(const ReportPlan& plan, const convert::Profile& profile,
                   const summarize::ReadContents& read) {
  if (profile.samples().empty()) return {};
  std::set<std::string> names;
  for (const convert::InputReport& input : read.inputs) {
    names.insert(input.read.fields.begin(), input.read.fields.end());
  }
  for (const summarize::GroupBy& by : plan.contents.groups) {
    const bool is_label = by.property == summarize::Property::kLabel;
    if (!is_label || names.contains(by.label) || !summarize::LabelKeyOf(profile, by).empty()) {
      continue;
    }
    return Fail(ErrorCode::kNotFound, NoLabelLine(by.label, profile, std::move(names)));
  }
  return {};
}

// The text of a report, and the exit status.
struct Outcome {
  std::string text;
  int status = cli::kDone;
};

std::string Format(const std::vector<Section>& sections, const ReportPlan& plan, TextStyle style) {
  if (plan.format == ReportFormat::kMarkdown) return MarkdownOf(sections);
  if (plan.format == ReportFormat::kCsv) return CsvOf(sections);
  if (plan.width) style.width = *plan.width;
  return TextOf(sections, style);
}

// Returns the number of CPUs of the machine that was recorded; 0 if a file does not say it.
std::uint32_t CpusOf(const std::string& name) {
  if (name == "-") return 0;
  Result<Input> input = convert::OpenInput(name);
  if (!input) return 0;
  const auto reader = perfdata::Reader::Open(*input);
  if (!reader) return 0;
  const auto value = reader->DecodedFeature(perfdata::FeatureBit::kNrCpus);
  return value ? std::get<perfdata::NrCpus>(*value).online : 0;
}

// What the readers say about the inputs of a diagnosis.
std::vector<diagnose::RecordedInput> RecordedInputsOf(const ReportPlan& plan,
                                                      const summarize::ReadContents& read) {
  std::vector<diagnose::RecordedInput> inputs;
  for (std::size_t i = 0; i < read.inputs.size(); ++i) {
    const convert::InputReport& input = read.inputs[i];
    inputs.push_back({.notes = input.read.recording_notes,
                      .events = input.read.events,
                      .lost_samples = input.read.lost_samples,
                      .without_times = input.read.without_times,
                      .cpus = i < plan.inputs.size() ? CpusOf(plan.inputs[i].native()) : 0});
  }
  return inputs;
}

Result<Outcome> Diagnose(const ReportPlan& plan, const TextStyle& style, cli::Console& console) {
  Outcome outcome;
  summarize::ReadContents read;
  std::optional<cli::PathFacts> none;
  TRY_ASSIGN(const convert::Profile profile,
             Read(plan.inputs, plan, read, outcome.status, none, console));
  const diagnose::Facts facts =
      diagnose::MakeFacts(profile, RecordedInputsOf(plan, read), plan.filter);
  if (facts.probes.empty() && !facts.has_cgroup_usage) {
    console.Warning(
        "the inputs have neither latency probes nor limits of cgroups: record with "
        "'perftape-record -e latency:net,latency:fs,latency:cpu --cgroup-usage'");
  }
  const diagnose::Diagnosis diagnosis = diagnose::Diagnose(facts, plan.diagnosis_rules);
  const ShownDiagnosis shown{.profile = profile, .facts = facts, .diagnosis = diagnosis};
  const std::optional<diagnose::Severity> worst = diagnosis.worst();
  if (plan.fail_on_finding && worst && *worst >= *plan.fail_on_finding) {
    outcome.status = cli::kDegraded;
  }
  outcome.text = plan.format == ReportFormat::kJson
                     ? DiagnosisJson(shown, plan)
                     : Format(DiagnosisSections(shown, plan), plan, style);
  return outcome;
}

Outcome ListRules(const ReportPlan& plan, const TextStyle& style) {
  return {.text = plan.format == ReportFormat::kJson
                      ? RulesJson(plan.diagnosis_rules)
                      : Format(RuleSections(plan.diagnosis_rules), plan, style)};
}

Result<Outcome> Report(ReportPlan plan, const TextStyle& style, cli::Console& console) {
  TRY(cli::FindWindows(plan.inputs, CombineOptionsOf(plan), plan));
  Outcome outcome;
  summarize::ReadContents read;
  std::optional<cli::PathFacts> path;
  TRY_ASSIGN(const convert::Profile profile,
             Read(plan.inputs, plan, read, outcome.status, path, console));
  if (profile.samples().empty()) {
    console.Warning("no samples: the inputs have none, or the filters removed all");
  }
  TRY(CheckLabels(plan, profile, read));
  const summarize::Contents contents = summarize::MakeContents(profile, read, plan.contents);
  if (plan.format == ReportFormat::kJson) {
    outcome.text = ReportJson(contents, read, path, plan);
    return outcome;
  }
  std::vector<Section> sections = SectionsOf(contents, read, plan);
  if (path) sections.insert(sections.begin() + 1, PathSection(*path, plan));
  outcome.text = Format(sections, plan, style);
  return outcome;
}

// Reads each recording into a profile of its own.
Result<std::vector<convert::Profile>> ReadEach(const std::vector<std::filesystem::path>& paths,
                                               const ReportPlan& plan, int& status,
                                               cli::Console& console) {
  std::vector<convert::Profile> profiles;
  for (const std::filesystem::path& path : paths) {
    summarize::ReadContents read;
    std::optional<cli::PathFacts> none;
    TRY_ASSIGN(convert::Profile profile, Read({path}, plan, read, status, none, console));
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

Result<Outcome> Diff(const ReportPlan& plan, const TextStyle& style, cli::Console& console) {
  Outcome outcome;
  TRY_ASSIGN(const auto before, ReadEach(plan.base, plan, outcome.status, console));
  TRY_ASSIGN(const auto after, ReadEach(plan.inputs, plan, outcome.status, console));
  std::vector<ComparedEvent> events;
  for (summarize::EventDifference& difference :
       summarize::Compare(before, after,
                          {.measure = plan.measure,
                          .stacks = plan.contents.stacks != 0,
                          .by_inclusive = plan.contents.sort == summarize::SortBy::kTotal})) {
    events.push_back({.difference = std::move(difference), .rules = {}});
  }
  for (ComparedEvent& event : events) {
    event.rules = summarize::CheckRules(plan.rules, event.difference);
    for (const summarize::GrowthRule* rule : event.rules.unused) {
      console.Warning(fmt::format("--fail-on '{}': {} has no such function", rule->text,
                                  event.difference.event));
    }
    if (!event.rules.violations.empty()) outcome.status = cli::kDegraded;
    if (!ListsViolations(plan)) {
      for (const std::string& line : ViolationLines(event, plan)) console.Error(line);
    } else if (!event.rules.violations.empty()) {
      console.Error(fmt::format("{}: {} of --fail-on, listed in the report", event.difference.event,
                                Counted(event.rules.violations.size(), "violation")));
    }
  }
  outcome.text = plan.format == ReportFormat::kJson ? DiffJson(events, plan)
                                                    : Format(SectionsOf(events, plan), plan, style);
  return outcome;
}

Status Print(const std::string& text, const ReportPlan& plan) {
  if (plan.output == "-") return cli::PrintToStdout(text);
  TRY_ASSIGN(OutputFile file, OutputFile::Create(plan.output, plan.if_exists));
  TRY(file.Write(text));
  return std::move(file).Commit();
}

// Without operands the report is on perf.data, as perf's.
Status CheckDefaultInput(const ReportPlan& plan) {
  std::error_code error;
  if (!plan.operands.empty() || std::filesystem::exists(plan.inputs.front(), error)) return {};
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("{}: no such file here: record first, with 'perftape-record -- COMMAND' or "
                  "'perftape-record -a --duration 5', or name a file",
                  plan.inputs.front().string()));
}

// The tool has no other thread when these are read.
std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

// Returns the style for stdout: the width of the terminal, no limit elsewhere; colours on a
// terminal, unless NO_COLOR is set or the terminal is "dumb".
TextStyle StyleOfStdout() {
  TextStyle style;
  if (!cli::IsTerminal()) return style;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  const std::string_view terminal = Environment("TERM");
  style.has_colours = Environment("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
  return style;
}

Result<int> Run(const ReportPlan& plan, cli::Console& console) {
  if (!plan.list_rules) TRY(CheckDefaultInput(plan));
  TRY(cli::CheckOutput(plan.output, plan.if_exists));
  const bool is_shown =
      plan.output == "-" && cli::IsTerminal() && plan.format == ReportFormat::kText;
  const TextStyle style = is_shown ? StyleOfStdout() : TextStyle();
  // A pager cannot be started in the sandbox.
  std::optional<cli::Pager> pager;
  if (is_shown && !plan.no_pager) pager.emplace();
  if (!plan.no_sandbox) TRY(Confine(plan));
  const auto make = [&]() -> Result<Outcome> {
    if (plan.list_rules) return ListRules(plan, style);
    if (plan.diagnose) return Diagnose(plan, style, console);
    return plan.base.empty() ? Report(plan, style, console) : Diff(plan, style, console);
  };
  ExpectInputs(plan.inputs.size() + plan.base.size());
  Result<Outcome> outcome =
      cli::RunWithProgress(cli::WantsProgress(plan), report_tool::ReportCommand().name, make);
  // Some arguments can only be checked with the input.
  if (!outcome && outcome.error().code == ErrorCode::kInvalidArgument) {
    console.Error(outcome.error().message);
    return cli::kUsage;
  }
  if (!outcome) return std::unexpected(std::move(outcome).error());
  TRY(Print(outcome->text, plan));
  return outcome->status;
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  if (std::optional<int> status = MainOfPerf(argc, argv)) return *status;
  return cli::Main<ReportPlan>({ReportCommand(), &PlanOf, &Run}, argc, argv);
}

}  // namespace perftape::report_tool
