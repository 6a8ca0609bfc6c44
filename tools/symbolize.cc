// SPDX-License-Identifier: Apache-2.0
// perftape-symbolize: names the addresses of a profile, from saved symbols.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "convert/combine.h"
#include "convert/symbolize/embed_symbols.h"
#include "convert/symbolize/symbol_sources.h"
#include "formats/base/counted.h"
#include "formats/base/input.h"
#include "formats/json/write.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/input_report.h"
#include "tools/common/profiles/symbol_report.h"
#include "tools/mains.h"
#include "tools/symbolize/command_line.h"

namespace perftape::symbolize_tool {
namespace {

// Folded lines are written as they were read, except for the names.
convert::WriteOptions WriteOptionsOf(const Plan& plan) {
  convert::WriteOptions options = {.if_exists = plan.if_exists};
  options.folded.root = folded::Root::kNone;
  return options;
}

void PrintSymbols(const symbolize::SymbolizeReport& report, const Plan& plan,
                  cli::Console& console) {
  const auto detail = plan.show_sources ? cli::SymbolDetail::kSources : cli::SymbolDetail::kSummary;
  console.Note(cli::SymbolLine(report, detail));
  for (const std::string& line : cli::MappingLines(report)) console.Detail(line);
  for (const std::string& problem : report.problems) console.Warning(problem);
  if (!plan.show_sources) return;
  for (const std::string& line : cli::SymbolSourceLines(report)) console.Plain(line);
}

// Returns how many locations were named and why others were not, as one JSON object and a line end.
std::string ReportJson(const symbolize::SymbolizeReport& report, const Plan& plan) {
  const json::Value json = {cli::SchemaMember(cli::kSymbolizeSchema),
                            {"input", plan.input.native()},
                            {"output", plan.output.native()},
                            {"symbols", cli::SymbolsJson(report)}};
  return json::Text(json, json::Layout::kOneLine);
}

void PrintDamage(const convert::ImportReport& read, const Input& input, cli::Console& console) {
  for (const std::string& line : cli::DamageLines(read)) {
    console.Warning(fmt::format("{}: {}", input.name(), line));
  }
  for (const std::string& note : read.notes) {
    console.Warning(fmt::format("{}: {}", input.name(), note));
  }
  for (const std::string& line : cli::RemarkLines(read)) {
    console.Detail(fmt::format("{}: {}", input.name(), line));
  }
}

// Reads an input that is a profile, names it, and writes it in the same format; one that is only
// read becomes folded stacks.
Result<int> NameProfile(const Plan& plan, const convert::Format& format, Input& input,
                        cli::Console& console) {
  convert::ImportReport read;
  const convert::ImportOptions import = {.cpu_label = format.has_sample_times,
                                         .time_label = format.has_sample_times,
                                         .map_kernel_addresses = true};
  const Result<convert::Profile> profile = format.read(input, import, read);
  if (!profile) return Fail(InContext(input.name(), profile.error()));
  PrintDamage(read, input, console);
  console.Note(fmt::format("{}: {}", input.name(), cli::ReadLine(read, format.name)));

  symbolize::SymbolOptions symbols = plan.symbol_options;
  // A kernel address that was put into a mapping has its digits as name until now.
  symbols.replace_names |= format.holds_one_value || format.write == nullptr;
  symbolize::SymbolizeReport report;
  TRY_ASSIGN(const convert::Profile named,
             symbolize::SymbolizeFrom(*profile, symbols, symbolize::ProfileOrigin(), report));
  const convert::Format& to =
      format.write != nullptr ? format : *convert::FindFormat(convert::kFoldedFormat);
  TRY_ASSIGN(const convert::Losses losses, to.write(named, WriteOptionsOf(plan), plan.output));
  for (const std::string& loss : losses) console.Warning(loss);
  PrintSymbols(report, plan, console);
  if (plan.report_as == ReportAs::kJson) TRY(cli::PrintToStdout(ReportJson(report, plan)));
  return cli::DamageLines(read).empty() ? cli::kDone : cli::kDegraded;
}

void PrintNotFound(const std::vector<std::string>& names, cli::Console& console) {
  if (names.empty()) return;
  console.Warning(fmt::format("no symbols found for {}", Counted(names.size(), "file")));
  for (const std::string& name : names) console.Detail(name);
}

// For a recording: appends the files that its names need, or copies them into a cache.
Result<int> CarrySymbols(const Plan& plan, const convert::Format& format, Input& input,
                         cli::Console& console) {
  convert::ImportReport read;
  const Result<convert::Profile> profile = format.read(input, {}, read);
  if (!profile) return Fail(InContext(input.name(), profile.error()));
  PrintDamage(read, input, console);
  TRY_ASSIGN(symbolize::SymbolSources sources, symbolize::SymbolSources::Open(plan.symbol_options));
  symbolize::SymbolizeReport report;
  (void)sources.Name(*profile, symbolize::ProfileOrigin(input), report);
  PrintSymbols(report, plan, console);
  if (!plan.cache.empty()) {
    TRY_ASSIGN(const symbolize::CacheReport filled,
               sources.FillCache(*profile, symbolize::ProfileOrigin(input), plan.cache));
    console.Note(fmt::format("{}: {} copied, {} existed already", plan.cache.native(),
                             Counted(filled.copied, "file"), filled.there));
    PrintNotFound(filled.not_found, console);
  }
  if (!plan.output.empty()) {
    TRY_ASSIGN(const symbolize::EmbedReport carried,
               symbolize::EmbedSymbols(input, *profile, sources, plan.output, plan.if_exists));
    console.Note(fmt::format("{} added to the recording, {} bytes",
                             Counted(carried.files, "symbol file"), carried.bytes));
    PrintNotFound(carried.not_found, console);
  }
  if (plan.report_as == ReportAs::kJson) TRY(cli::PrintToStdout(ReportJson(report, plan)));
  return cli::DamageLines(read).empty() ? cli::kDone : cli::kDegraded;
}

Result<int> Run(const Plan& plan, cli::Console& console) {
  OutputTarget target;
  if (!plan.output.empty()) {
    TRY_ASSIGN(target, cli::CheckOutput(plan.output, plan.if_exists));
  }
  TRY_ASSIGN(Input input, convert::OpenInput(plan.input));
  TRY_ASSIGN(const convert::Format* format, convert::FormatOf(input, plan.from));
  if (!plan.output.empty() && !format->is_text) TRY(cli::RefuseTerminal(target, format->name));
  if (format->is_recording) return CarrySymbols(plan, *format, input, console);
  if (plan.output.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                input.name() + ": --to-cache applies only to a perf.data");
  }
  return NameProfile(plan, *format, input, console);
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  return cli::Main<Plan>({SymbolizeCommand(), &PlanOf, &Run, &Confine, true}, argc, argv);
}

}  // namespace perftape::symbolize_tool
