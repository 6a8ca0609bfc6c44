// SPDX-License-Identifier: Apache-2.0
#include "tools/report/perf_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "convert/histogram/read_histograms.h"
#include "convert/records/statistics.h"
#include "formats/base/progress.h"
#include "formats/perfdata/reader.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/progress.h"
#include "tools/common/profiles/input_report.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/inspect/shown_sections.h"
#include "tools/report/perf_layout.h"
#include "tools/report/perf_options.h"

namespace perftape::report_tool {
namespace {

using histogram::EventHistogram;
using histogram::Histograms;

std::filesystem::path InputOf(const PerfPlan& plan) {
  return plan.operands.empty() ? "perf.data" : plan.operands.front();
}

// Returns "342 " or "12K", as perf shortens numbers.
std::string Shortened(std::uint64_t number) {
  constexpr std::uint64_t kStep = 1000;
  char unit = ' ';
  for (const char next : {'K', 'M', 'G'}) {
    if (number <= kStep) break;
    number /= kStep;
    unit = next;
  }
  return fmt::format("{}{}", number, unit);
}

bool IsEmpty(const Histograms& read) {
  return std::ranges::all_of(
      read.events, [](const EventHistogram& event) { return event.histogram.all_samples() == 0; });
}

std::string FileHeading(const PerfPlan& plan, const Histograms& read) {
  if (!plan.layout.has_header) return {};
  std::string text =
      "# To display the perf.data header info, please use --header/--header-only options.\n#\n";
  const std::pair<std::string_view, const std::string*> filters[] = {
      {"dso", &plan.dsos}, {"comm", &plan.comms}, {"symbol", &plan.symbols}};
  for (const auto& [word, list] : filters) {
    if (std::ranges::count(plan.layout.elided, word) == 0) continue;
    text += fmt::format("# {}: {}\n", word, cli::EscapeForTerminal(*list));
  }
  if (IsEmpty(read)) return text;
  text += fmt::format("#\n# Total Lost Samples: {}\n#\n", read.read.lost_samples);
  return text;
}

std::string EventHeading(const PerfPlan& plan, const EventHistogram& event) {
  if (!plan.layout.has_header) return {};
  const histogram::Histogram& its = event.histogram;
  const bool is_relative = plan.layout.is_relative;
  const std::string& times = plan.read.times;
  return fmt::format("# Samples: {} of event '{}'{}\n# Event count (approx.): {}\n#\n",
                     Shortened(is_relative ? its.samples() : its.all_samples()),
                     cli::EscapeForTerminal(event.name),
                     times.empty() ? "" : fmt::format(" (time slices: {})", times),
                     is_relative ? its.period() : its.all_periods());
}

std::string TablesOf(const PerfPlan& plan, const histogram::Settings& settings,
                     const Histograms& read) {
  std::string text = FileHeading(plan, read);
  for (const EventHistogram& event : read.events) {
    if (event.histogram.all_samples() == 0) continue;
    text += EventHeading(plan, event);
    text += PerfTable(event.histogram, settings, read.names, plan.layout);
    text += "\n\n";
  }
  return text;
}

Result<std::string> StatisticsOf(Input& input) {
  Result<perfdata::Reader> reader = perfdata::Reader::Open(input);
  if (!reader) return Fail(InContext(input.name(), std::move(reader).error()));
  return inspect::StatisticsLikePerf(records::CountRecords(*reader), reader->events());
}

struct PerfOutcome {
  std::string text;
  bool is_damaged = false;
};

Result<PerfOutcome> MakeTables(PerfPlan plan, cli::Console& console) {
  TRY_ASSIGN(Input input, convert::OpenInput(InputOf(plan)));
  if (input.is_stream()) TRY(input.All());
  PerfOutcome outcome;
  if (plan.shows_statistics) {
    TRY_ASSIGN(outcome.text, StatisticsOf(input));
    return outcome;
  }
  TRY_ASSIGN(const bool has_callchains, histogram::HasCallchains(input));
  TRY_ASSIGN(const histogram::Settings settings, SettingsOf(plan, has_callchains));
  plan.read.combine.symbols = plan.symbol_options;
  TRY_ASSIGN(std::unique_ptr<Histograms> read,
             histogram::ReadHistograms(input, plan.read, settings));
  if (IsEmpty(*read)) {
    console.Warning("no samples: the input has none, or the filters removed all");
  }
  outcome.text = TablesOf(plan, settings, *read);
  outcome.is_damaged = !cli::PrintInputProblems(
      {.name = input.name(), .format = "perf.data", .read = read->read}, console);
  return outcome;
}

Status ConfinePerf(const PerfPlan& plan) {
  const std::vector<std::filesystem::path> inputs = {InputOf(plan)};
  sandbox::FileGrants grants;
  sandbox::GrantInput(inputs.front(), grants);
  cli::GrantSymbolSources(plan.symbol_options, inputs, grants);
  return sandbox::Confine(grants);
}

Result<int> RunPerf(const PerfPlan& plan, cli::Console& console) {
  std::error_code error;
  if (plan.operands.empty() && !std::filesystem::exists(InputOf(plan), error)) {
    return Fail(ErrorCode::kNotFound,
                "perf.data: no such file here: record first, with 'perftape-record -- COMMAND', "
                "or name a file");
  }
  // A pager cannot be started in the sandbox.
  std::optional<cli::Pager> pager;
  if (cli::IsTerminal() && !plan.no_pager) pager.emplace();
  if (!plan.no_sandbox) TRY(ConfinePerf(plan));
  ExpectInputs(1);
  Result<PerfOutcome> outcome =
      cli::RunWithProgress(cli::WantsProgress(plan), PerfReportCommand().name,
                           [&] { return MakeTables(plan, console); });
  // Some arguments can only be checked with the input.
  if (!outcome && outcome.error().code == ErrorCode::kInvalidArgument) {
    console.Error(outcome.error().message);
    return cli::kUsage;
  }
  if (!outcome) return std::unexpected(std::move(outcome).error());
  TRY(cli::PrintToStdout(outcome->text));
  return outcome->is_damaged ? cli::kDegraded : cli::kDone;
}

}  // namespace

std::optional<int> MainOfPerf(int argc, char** argv) noexcept {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!AsksForPerf(words)) return std::nullopt;
  words = JoinCallGraph(std::move(words));
  std::vector<char*> pointers(argv, argv + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return cli::Main<PerfPlan>({PerfReportCommand(), &PlanOfPerf, &RunPerf},
                             static_cast<int>(words.size()) + 1, pointers.data());
}

}  // namespace perftape::report_tool
