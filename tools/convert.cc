// SPDX-License-Identifier: Apache-2.0
// perftape-convert: converts profiles between formats, merges several into one, and adds names.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "convert/anonymize/anonymize.h"
#include "convert/combine.h"
#include "convert/export/differential.h"
#include "convert/model/hybrid_events.h"
#include "convert/model/profile_facts.h"
#include "convert/model/sample_thread.h"
#include "convert/rewritten_samples.h"
#include "convert/timeline/new_profile.h"
#include "convert/timeline/parallelism.h"
#include "convert/timeline/pauses.h"
#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/base/progress.h"
#include "formats/base/text.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/secret_file.h"
#include "tools/common/profiles/filter_options.h"
#include "tools/common/profiles/found_windows.h"
#include "tools/common/profiles/input_report.h"
#include "tools/common/profiles/symbol_report.h"
#include "tools/common/profiles/time_view_options.h"
#include "tools/convert/command_line.h"
#include "tools/convert/compared_windows.h"
#include "tools/convert/event_files.h"
#include "tools/convert/inputs.h"
#include "tools/convert/perf_to_profile.h"
#include "tools/convert/report.h"
#include "tools/mains.h"

namespace perftape::convert_tool {
namespace {

// Reads the key of --anonymize. Warns of WrongPermissions. The errors are those of ReadWholeFile
// and of NameKey::FromSecret.
Result<anonymize::NameKey> ReadKey(const std::filesystem::path& path, cli::Console& console) {
  TRY_ASSIGN(const std::string secret, ReadWholeFile(path));
  auto key = anonymize::NameKey::FromSecret(AsBytes(secret));
  if (!key) return Fail(InContext(path.native(), std::move(key).error()));
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    if (const auto wrong = cli::WrongPermissions(path, status.st_mode)) console.Warning(*wrong);
  }
  return key;
}

convert::CombineOptions CombineOptionsOf(const Plan& plan) {
  convert::CombineOptions options = {.from = plan.from,
                                     .import = plan.import,
                                     .look_up_names = plan.symbols == Symbols::kLookUp,
                                     .symbols = plan.symbol_options};
  // These have the hint themselves.
  const bool has_hint =
      plan.to->name == convert::kPprofFormat || plan.to->name == convert::kOtlpFormat;
  if (!plan.all_frames && !has_hint) {
    options.dropped_frames = convert::DroppedFrames::kRemoved;
  }
  options.import.cpu_label |= plan.filter.needs_cpu();
  options.import.cgroup_label |= plan.filter.needs_cgroup();
  if (plan.inputs.size() > 1 && HoldsOneValue(plan)) {
    options.one_value = true;
    options.value = plan.write.folded.value;
    options.events = plan.filter.events;
  }
  return options;
}

// Writes a perf.data as a perf.data, record by record.
Result<int> Rewrite(const Plan& plan, Input& input, cli::Console& console) {
  rewrite::NormalizeOptions options = plan.normalize;
  convert::ChosenSamples chosen;
  if (plan.filter.changes_anything() || plan.import.time) {
    TRY_ASSIGN(chosen, convert::ChooseSamples(input, plan.filter, CombineOptionsOf(plan)));
    options.kept_samples = &chosen.kept;
    console.Note(fmt::format("{}: {}", input.name(), cli::ReadLine(chosen.read)));
    for (const std::string& line : cli::FilterLines(ConvertCommand(), chosen.filter))
      console.Note(line);
  }
  std::optional<convert::UnwoundChains> chains;
  if (plan.unwind) {
    TRY_ASSIGN(chains, convert::UnwoundChains::Open(input, CombineOptionsOf(plan)));
    options.next_chain = [&chains] { return chains->Next(); };
  }
  TRY_ASSIGN(const rewrite::NormalizeReport report, plan.to->rewrite(input, plan.output, options));
  for (const std::string& line : LossLines(report)) {
    console.Warning(fmt::format("{}: {}", input.name(), line));
  }
  console.Note(fmt::format("{}: {}", input.name(), RewrittenLine(report, plan.normalize.reader)));
  for (const std::string& line : FeatureLines(report)) console.Detail(line);
  if (chains) cli::PrintUnwound(input.name(), chains->Report(), console);
  if (options.kept_samples != nullptr && report.samples() == 0) {
    console.Warning("the output is empty: the filters removed all samples");
  }
  if (plan.report_as == ReportAs::kJson) TRY(cli::PrintToStdout(ReportJson(report, plan)));
  return report.is_whole() ? cli::kDone : cli::kDegraded;
}

// The results of a conversion so far.
struct Findings {
  ConversionReport report;
  int status = cli::kDone;
};

// Reports the input that was read last.
void PrintInput(const convert::InputReport& input, const std::vector<std::filesystem::path>& paths,
                Findings& findings, cli::Console& console) {
  if (!cli::PrintInputProblems(input, console)) findings.status = cli::kDegraded;
  const std::string line =
      fmt::format("{}: {}", input.name, cli::ReadLine(input.read, input.format));
  // For several inputs, only the sum is printed.
  paths.size() == 1 ? console.Note(line) : console.Detail(line);
}

std::set<std::string> EventsLeftOut(const std::vector<convert::InputReport>& inputs) {
  std::set<std::string> names;
  for (const convert::InputReport& input : inputs) {
    names.insert(input.other_events.begin(), input.other_events.end());
  }
  return names;
}

// Fails with kNotFound if --labels names a field that no input has.
Status CheckFields(const Plan& plan, const std::vector<convert::InputReport>& inputs) {
  std::set<std::string> fields;
  for (const convert::InputReport& input : inputs) {
    fields.insert(input.read.fields.begin(), input.read.fields.end());
  }
  for (const LabelRequest& request : plan.labels) {
    const std::string& field = request.field;
    if (field.empty() || inputs.empty() || fields.contains(field)) continue;
    return Fail(ErrorCode::kNotFound, NoFieldLine(field, fields));
  }
  return {};
}

// Adds inputs to a profile. `first` is the first one if it is open already.
Result<convert::Profile> ReadAll(const Plan& plan, const std::vector<std::filesystem::path>& paths,
                                 std::optional<Input> first, Findings& findings,
                                 cli::Console& console) {
  convert::Combiner combiner(CombineOptionsOf(plan));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Result<Input> opened =
        i == 0 && first ? Result<Input>(*std::move(first)) : convert::OpenInput(paths[i]);
    if (!opened) return std::unexpected(std::move(opened).error());
    if (paths.size() > 1 && !opened->is_directory() && opened->beginning().empty()) {
      console.Warning(fmt::format("{}: is empty", opened->name()));
      continue;
    }
    TRY(combiner.Add(*std::move(opened)));
    convert::InputReport report = combiner.inputs().back();
    cli::ForgetOtherTimes(plan, report);
    PrintInput(report, paths, findings, console);
  }
  TRY(CheckFields(plan, combiner.inputs()));
  TRY_ASSIGN(convert::Profile profile, std::move(combiner).Finish());
  findings.report.inputs = combiner.inputs();
  for (convert::InputReport& input : findings.report.inputs) cli::ForgetOtherTimes(plan, input);
  findings.report.symbols = combiner.symbols();
  if (!plan.filter.events.empty() && profile.events().empty()) {
    if (const std::set<std::string> names = EventsLeftOut(combiner.inputs()); !names.empty()) {
      return Fail(ErrorCode::kNotFound, cli::NoEventLine(plan.filter.events, names,
                                                         cli::RecordedEvents(combiner.inputs())));
    }
  }
  return profile;
}

Result<convert::Profile> Filtered(const Plan& plan, const convert::Profile& profile,
                                  Findings& findings) {
  convert::FilterReport& report = findings.report.filter;
  if (!plan.filter.changes_anything()) {
    report = convert::TotalsOf(profile);
    return profile;
  }
  convert::FilterOptions options = plan.filter;
  // With several inputs, the events were chosen when each was converted to one value.
  if (plan.inputs.size() > 1 && HoldsOneValue(plan)) options.events = {};
  const convert::Profile kept = convert::ApplyFilter(profile, options, report);
  if (!options.events.empty() && kept.events().empty() && !profile.events().empty()) {
    return Fail(ErrorCode::kNotFound,
                cli::NoEventLine(options.events, cli::EventNames(profile),
                                 cli::RecordedEvents(findings.report.inputs)));
  }
  return kept;
}

// Reads and filters what --diff compares the inputs with.
Result<convert::Profile> ReadBase(const Plan& plan, Findings& findings, cli::Console& console) {
  Findings of_base;
  TRY_ASSIGN(const convert::Profile read, ReadAll(plan, plan.base, std::nullopt, of_base, console));
  TRY_ASSIGN(convert::Profile base, Filtered(plan, read, of_base));
  for (const std::string& line : cli::FilterLines(ConvertCommand(), of_base.report.filter))
    console.Note(line);
  if (base.samples().empty()) {
    console.Warning(
        fmt::format("--diff {}: no samples to compare with", plan.base.front().native()));
  }
  findings.report.base = std::move(of_base.report.inputs);
  if (of_base.status != cli::kDone) findings.status = of_base.status;
  return base;
}

// Warns of the pairs of events that an output with one pair leaves out.
void WarnOfOtherPairs(const Plan& plan, const convert::Profile& profile, Findings& findings,
                      cli::Console& console) {
  const auto chosen = convert::ChooseEventPair(profile);
  if (!chosen || !plan.to->holds_one_value) return;
  std::vector<std::string> others;
  for (const convert::EventPair& pair : convert::EventPairsOf(profile)) {
    if (pair.after != chosen->after) others.emplace_back(pair.name);
  }
  findings.report.left_out_events = others;
  if (others.empty()) return;
  console.Warning(fmt::format("only the event {} is compared: use --event to select one of {}",
                              chosen->name, Joined(others, ", ")));
}

// Returns the writer's options, with the event for an output that has one event.
convert::WriteOptions WriteOptionsOf(const Plan& plan, const convert::Profile& profile,
                                     Findings& findings, cli::Console& console) {
  convert::WriteOptions options = plan.write;
  for (const convert::InputReport& input : findings.report.inputs) {
    const convert::TaskEvents& events = input.read.task_events;
    options.times.events.insert(options.times.events.end(), events.begin(), events.end());
    options.times.switches = input.read.switches;
    // Of a wait that the filter removed, the profile says nothing.
    if (plan.filter.events.empty()) options.times.event_names = input.read.events;
    options.times.window = input.read.window;
    options.times.pauses = timeline::PausesOf(input.read);
    options.times.sample_step_ns = static_cast<std::int64_t>(input.read.time_step_ns);
    if (!plan.anonymize) options.times.trigger = input.read.trigger;
  }
  options.folded.facts = LossFacts(plan, findings.report);
  std::ranges::copy(findings.report.facts, std::back_inserter(options.folded.facts));
  if (!HoldsOneValue(plan) && !HoldsOneEvent(plan)) return options;
  const std::optional<convert::EventId> event = convert::DefaultEvent(profile);
  if (!event) return options;
  options.folded.event = event;
  const auto others = EventsBeside(profile, *event);
  findings.report.left_out_events = others;
  if (!others.empty()) {
    console.Warning(OneEventLine(plan, profile.text(profile[*event].name), others));
  }
  return options;
}

// Returns whether recordings lose their own sample times in an output that is a recording.
bool LosesTimeLine(const std::vector<convert::InputReport>& inputs, const convert::Format& to) {
  return to.is_recording && std::ranges::any_of(inputs, [&](const convert::InputReport& input) {
           return input.format == to.name;
         });
}

void PrintConversion(const Plan& plan, const convert::Profile& written, Findings& findings,
                     cli::Console& console) {
  const ConversionReport& report = findings.report;
  if (plan.inputs.size() > 1) console.Note(InputsLine(report));
  if (!report.symbols.mappings.empty()) {
    const auto detail =
        plan.show_sources ? cli::SymbolDetail::kSources : cli::SymbolDetail::kSummary;
    console.Note(cli::SymbolLine(report.symbols, detail));
    if (const std::string line = cli::JitLine(report.symbols); !line.empty()) console.Note(line);
  }
  for (const std::string& line : ValueLines(plan, written)) console.Note(line);
  for (const convert::InputReport& input : report.inputs) {
    if (input.read.without_times) console.Note(NoTimesLine(input.read.samples));
  }
  if (plan.to->name == convert::kSpeedscopeFormat && !convert::HasTimes(written)) {
    console.Note("the inputs have no times: the Time Order of speedscope is that of the names");
  }
  for (const std::string& problem : report.symbols.problems) console.Warning(problem);
  for (const std::string& line : cli::MappingLines(report.symbols)) console.Detail(line);
  if (plan.show_sources) {
    for (const std::string& line : cli::SymbolSourceLines(report.symbols)) console.Plain(line);
  }
  for (const std::string& line : cli::FilterLines(ConvertCommand(), report.filter))
    console.Note(line);
  if (written.samples().empty()) {
    findings.report.empty_because = WhyEmpty(plan, report);
    console.Warning(findings.report.empty_because);
  }
}

// Writes the profile into a file, or into one for each event.
Status Write(const Plan& plan, const convert::Profile& profile, Findings& findings,
             cli::Console& console) {
  convert::WriteOptions options = WriteOptionsOf(plan, profile, findings, console);
  if (!plan.file_per_event) {
    TRY_ASSIGN(findings.report.losses, plan.to->write(profile, options, plan.output));
    return {};
  }
  std::vector<EventFile>& files = findings.report.files;
  TRY_ASSIGN(files, ChooseEventFiles(profile, plan.output, plan.write.if_exists));
  for (const EventFile& file : files) {
    options.folded.event = file.event;
    TRY(plan.to->write(profile, options, file.path));
    console.Note(FilesLine(file));
  }
  return {};
}

// Returns what a page calls the windows of a path; nothing if they are the lives of threads.
std::string WindowName(const Plan& plan) {
  const timeline::EventPairs& events = plan.time_view.events;
  if (events.from.empty()) return {};
  if (plan.anonymize) return "window";
  return events.from.text() + " .. " + events.to.text();
}

// What belongs to a view over time: --wall, --path, --latency, --parallelism.
struct Viewed {
  std::optional<convert::Profile> against;   // what the view is compared with
  std::optional<convert::Profile> recorded;  // for a page that also shows it
};

// Returns the samples for the lanes of a page. The path goes through all threads, whatever the
// filters select.
Result<convert::Profile> RecordedForPage(const Plan& plan, const convert::Profile& read) {
  if (plan.time_view.view == cli::TimeView::kPath) return convert::JoinHybridEvents(read);
  Findings unused;
  TRY_ASSIGN(const convert::Profile kept, Filtered(plan, read, unused));
  return convert::JoinHybridEvents(kept);
}

void AddCpuWaitsFact(const timeline::CpuUse& use, std::vector<std::string>& facts) {
  const std::string others = cli::NotRecordedText(use);
  if (others.empty()) return;
  facts.push_back(fmt::format("{}{}{}", cli::kCpuWaitsFact, convert::kCommentSeparator, others));
}

// Replaces what was read by its view.
Result<Viewed> View(Plan& plan, convert::Profile& read, Findings& findings, cli::Console& console) {
  if (plan.time_on_page == TimeOnPage::kShort && read.samples().size() > kMostTimedSamples) {
    if (plan.time_view.at_times) console.Note(NoTimesLine(read.samples().size()));
    plan.time_view.at_times = false;
  }
  TRY_ASSIGN(cli::TimeViewResult made, MakeTimeView(plan, read, findings.report.inputs));
  cli::PrintTimeView(made, console);
  if (made.path) AddCpuWaitsFact(made.path->chosen.cpu_use, findings.report.facts);
  Viewed view;
  if (plan.time_view.at_times) {
    TRY_ASSIGN(view.recorded, RecordedForPage(plan, read));
    plan.write.times.windows = std::move(made.windows);
    plan.write.times.window_name = WindowName(plan);
  }
  // The reasons have names of functions and threads.
  if (made.path && !plan.anonymize && plan.to->shows_events) {
    plan.write.times.compared = ComparedWindowsOf(*made.path, plan.time_view);
  }
  if (made.against) {
    TRY_ASSIGN(view.against, Filtered(plan, *made.against, findings));
  }
  read = plan.time_view.view == cli::TimeView::kLatency ? timeline::ToLatency(made.profile)
                                                        : std::move(made.profile);
  return view;
}

Result<int> Run(const Plan& given, cli::Console& console) {
  Plan plan = given;
  TRY(cli::FindWindows(plan.inputs, CombineOptionsOf(plan), plan));
  // The names of a file per event are known, and checked, only after reading.
  const IfExists if_exists = plan.file_per_event ? IfExists::kReplace : plan.write.if_exists;
  TRY_ASSIGN(const OutputTarget target, cli::CheckOutput(plan.output, if_exists));
  if (!plan.to->is_text) TRY(cli::RefuseTerminal(target, plan.to->name));
  for (const std::filesystem::path& repeated : RepeatedInputs(plan.inputs)) {
    console.Warning(
        fmt::format("{}: given more than once, and counted each time", repeated.native()));
  }
  std::optional<anonymize::NameKey> key;
  if (plan.anonymize) {
    TRY_ASSIGN(key, ReadKey(*plan.anonymize, console));
  }
  ExpectInputs(plan.base.size() + plan.inputs.size());
  Findings findings;
  convert::Profile read, base;
  Viewed view;
  if (!plan.base.empty()) {
    TRY_ASSIGN(base, ReadBase(plan, findings, console));
  }
  if (!plan.inputs.empty()) {
    TRY_ASSIGN(Input first, convert::OpenInput(plan.inputs.front()));
    const bool may_rewrite =
        !plan.anonymize && plan.time_view.view == cli::TimeView::kNone && plan.inputs.size() == 1;
    if (may_rewrite && plan.to->rewrite != nullptr) {
      TRY_ASSIGN(const convert::Format* from, convert::FormatOf(first, plan.from));
      if (from == plan.to) return Rewrite(plan, first, console);
    }
    TRY_ASSIGN(read, ReadAll(plan, plan.inputs, std::move(first), findings, console));
  }
  if (plan.time_view.view != cli::TimeView::kNone) {
    TRY_ASSIGN(view, View(plan, read, findings, console));
  }
  TRY_ASSIGN(convert::Profile profile, Filtered(plan, read, findings));
  if (plan.to->shows_events) profile = convert::JoinHybridEvents(profile);
  if (!plan.base.empty()) {
    profile = convert::MakeDifferential(convert::JoinHybridEvents(base), profile);
    WarnOfOtherPairs(plan, profile, findings, console);
  }
  if (view.against) profile = convert::MakeDifferential(*view.against, profile);
  convert::Profile written =
      view.recorded ? timeline::WithRecording(profile, *view.recorded) : profile;
  if (key) {
    written = anonymize::Anonymize(written, *key, plan.kernel_names);
    for (convert::InputReport& input : findings.report.inputs) {
      anonymize::AnonymizeComms(input.read.task_events, *key);
    }
  }
  if (target.is_stdout()) cli::EndProgress();
  TRY(Write(plan, written, findings, console));
  if (LosesTimeLine(findings.report.inputs, *plan.to)) {
    findings.report.losses.emplace_back(
        key ? "times of samples, raw data of tracepoints, copies of stacks, bundles: an anonymized "
              "perf.data has none of them"
            : "the times of samples: only a single perf.data keeps its timeline");
  }
  for (const std::string& loss : findings.report.losses) console.Warning(loss);
  PrintConversion(plan, view.recorded ? profile : written, findings, console);
  if (plan.report_as == ReportAs::kJson) TRY(cli::PrintToStdout(ReportJson(findings.report, plan)));
  return findings.status;
}

Result<int> RunForPprof(const Plan& plan, cli::Console& console) {
  Plan with_output = plan;
  TRY(TakeOverEmptyOutput(with_output));
  TRY_ASSIGN(const int status, Run(with_output, console));
  return StatusForPprof(status);
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  if (argc > 0 && IsPerfToProfile(argv[0])) {
    return cli::Main<Plan>({PerfToProfileCommand(), &PlanOfPerfToProfile, &RunForPprof, &Confine},
                           argc, argv);
  }
  return cli::Main<Plan>({ConvertCommand(), &PlanOf, &Run, &Confine, true}, argc, argv);
}

}  // namespace perftape::convert_tool
