// SPDX-License-Identifier: Apache-2.0
// perftape-report: shows where a profile spends its time.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "convert/combine.h"
#include "convert/filter/filter.h"
#include "formats/base/output_file.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/filter_text.h"
#include "tools/common/profiles/input_messages.h"
#include "tools/common/profiles/symbol_text.h"
#include "tools/report/command_line.h"
#include "tools/report/contents.h"
#include "tools/report/report_json.h"
#include "tools/report/sections.h"
#include "tools/report/terminal.h"

namespace perftape::report_tool {
namespace {

// Reads all inputs. Sets `status` to kDegraded if one is damaged.
Result<convert::Profile> ReadAll(const ReportPlan& plan, ReadContents& read, int& status,
                                 cli::Console& console) {
  convert::Combiner combiner(
      {.from = plan.from, .import = plan.import, .symbols = plan.symbol_options});
  for (const std::filesystem::path& path : plan.inputs) {
    TRY_ASSIGN(Input input, convert::OpenInput(path));
    TRY(combiner.Add(input));
    if (!cli::PrintInputProblems(combiner.inputs().back(), console)) status = cli::kDegraded;
  }
  TRY_ASSIGN(convert::Profile profile, std::move(combiner).Finish());
  read = {.inputs = combiner.inputs(), .symbols = combiner.symbols()};
  return profile;
}

convert::Profile Filtered(const ReportPlan& plan, convert::Profile profile, cli::Console& console) {
  if (!plan.filter.changes_anything()) return profile;
  convert::FilterReport report;
  convert::Profile kept = convert::ApplyFilter(profile, plan.filter, report);
  for (const std::string& line : cli::FilterLines(ReportCommand(), report)) console.Note(line);
  return kept;
}

std::string Text(const Contents& contents, const ReadContents& read, const ReportPlan& plan,
                 TextStyle style) {
  if (plan.format == ReportFormat::kJson) return ReportJson(contents, read, plan);
  const std::vector<Section> sections = SectionsOf(contents, read, plan);
  if (plan.format == ReportFormat::kMarkdown) return MarkdownOf(sections);
  if (plan.format == ReportFormat::kCsv) return CsvOf(sections);
  if (plan.width) style.width = *plan.width;
  return TextOf(sections, style);
}

Status Print(const std::string& text, const ReportPlan& plan) {
  if (plan.output == "-") return cli::PrintToStdout(text);
  TRY_ASSIGN(OutputFile file, OutputFile::Create(plan.output, plan.if_exists));
  TRY(file.Write(text));
  return std::move(file).Commit();
}

Result<int> Run(const ReportPlan& plan, cli::Console& console) {
  TRY(cli::CheckOutput(plan.output, plan.if_exists));
  const bool is_shown = plan.output == "-" && IsTerminal() && plan.format == ReportFormat::kText;
  const TextStyle style = is_shown ? StyleOfStdout() : TextStyle();
  int status = cli::kDone;
  ReadContents read;
  TRY_ASSIGN(convert::Profile whole, ReadAll(plan, read, status, console));
  const convert::Profile profile = Filtered(plan, std::move(whole), console);
  if (profile.samples().empty()) {
    console.Warning("no samples: the inputs have none, or the filters removed all");
  }
  for (const std::string& line : cli::MappingLines(read.symbols)) console.Detail(line);
  if (plan.show_sources) {
    for (const std::string& line : cli::SymbolSourceLines(read.symbols)) console.Plain(line);
  }
  const Contents contents = MakeContents(profile, read, plan);
  const std::string text = Text(contents, read, plan, style);
  std::optional<Pager> pager;
  if (is_shown && !plan.no_pager) pager.emplace();
  TRY(Print(text, plan));
  return status;
}

}  // namespace
}  // namespace perftape::report_tool

int main(int argc, char** argv) noexcept {
  using namespace perftape;
  return cli::Main<report_tool::ReportPlan>(
      {report_tool::ReportCommand(), &report_tool::PlanOf, &report_tool::Run}, argc, argv);
}
