// SPDX-License-Identifier: Apache-2.0
// perftape-convert: a profile from one format into another, with names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "convert/formats.h"
#include "convert/symbolize/symbolize.h"
#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/perfdata/reader.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/convert/command_line.h"
#include "tools/convert/report.h"

namespace perftape::convert_tool {
namespace {

// What the input is.
Result<const Format*> FormatOf(const Plan& plan, const Input& input) {
  const Format* from = plan.from == nullptr ? DetectFormat(input) : plan.from;
  if (from != nullptr) return from;
  return Fail(
      ErrorCode::kUnsupported,
      fmt::format("{}: at 0x0: {}", input.name(),
                  input.beginning().empty() ? "the file is empty"
                                            : "its first bytes are those of no format read here; "
                                              "--from names one"));
}

// `status` becomes kDegraded where a part was damaged.
Result<Profile> ReadInput(const Format& from, Input& input, cli::Console& console, int& status) {
  const std::string& name = input.name();
  ImportReport report;
  Result<Profile> profile = from.read(input, {}, report);
  if (!profile) return Fail(InContext(name, std::move(profile).error()));
  for (const std::string& line : DamageLines(report)) {
    console.Warning(fmt::format("{}: {}", name, line));
    status = cli::kDegraded;
  }
  console.Note(fmt::format("{}: {}", name, ReadLine(report)));
  return profile;
}

Result<Profile> AddNames(const Plan& plan, const Input& input, const Profile& profile,
                         cli::Console& console) {
  if (plan.symbols == Symbols::kNone) return profile;
  LocalSymbolOptions options = plan.symbol_options;
  // A directory brings the kernel's names along.
  if (options.kallsyms.empty()) options.kallsyms = perfdata::KallsymsOf(input).value_or("");
  SymbolizeReport report;
  TRY_ASSIGN(Profile named, SymbolizeLocally(profile, options, report));
  console.Note(SymbolLine(report));
  for (const std::string& line : MappingLines(report)) console.Detail(line);
  return named;
}

// The writer's options with the event that a format of one event takes; says which it leaves out.
Result<WriteOptions> ChooseEvent(const Plan& plan, const Profile& profile, cli::Console& console) {
  WriteOptions options = plan.write;
  if (plan.to->name != "folded") return options;
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    if (!plan.event.empty() && profile.text(profile[EventId{i}].name) == plan.event) {
      options.folded.event = EventId{i};
      return options;
    }
  }
  if (!plan.event.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: no event is called '{}'", plan.input.native(), plan.event));
  }
  const std::optional<EventId> first = FirstSampledEvent(profile);
  if (!first) return options;
  if (const auto others = EventsBeside(profile, *first); !others.empty()) {
    console.Warning(fmt::format("folded lines are of one event, here {}; --event takes one of {}",
                                profile.text(profile[*first].name), fmt::join(others, ", ")));
  }
  return options;
}

Result<int> Rewrite(const Plan& plan, const Format& from, Input& input, cli::Console& console) {
  if (&from != plan.to) {
    return Fail(ErrorCode::kUnsupported, fmt::format("{}: {} does not become {} here", input.name(),
                                                     from.name, plan.to->name));
  }
  TRY(cli::CheckOutput(plan.output, plan.write.if_exists));
  TRY_ASSIGN(const rewrite::NormalizeReport report,
             plan.to->rewrite(input, plan.output, plan.normalize));
  for (const std::string& line : LossLines(report)) {
    console.Warning(fmt::format("{}: {}", input.name(), line));
  }
  console.Note(fmt::format("{}: {}", input.name(), RewrittenLine(report, plan.normalize.reader)));
  for (const std::string& line : FeatureLines(report)) console.Detail(line);
  return report.is_whole() ? cli::kDone : cli::kDegraded;
}

Result<int> Run(const Plan& plan, cli::Console& console) {
  int status = cli::kDone;
  TRY_ASSIGN(Input input, Input::Open(plan.input));
  if (plan.to->rewrite != nullptr) {
    TRY_ASSIGN(const Format* from, FormatOf(plan, input));
    return Rewrite(plan, *from, input, console);
  }
  TRY(cli::CheckOutput(plan.output, plan.write.if_exists));

  TRY_ASSIGN(const Format* from, FormatOf(plan, input));
  TRY_ASSIGN(const Profile read, ReadInput(*from, input, console, status));
  TRY_ASSIGN(const Profile profile, AddNames(plan, input, read, console));
  TRY_ASSIGN(const WriteOptions options, ChooseEvent(plan, profile, console));
  TRY(plan.to->write(profile, options, plan.output));
  return status;
}

}  // namespace
}  // namespace perftape::convert_tool

int main(int argc, char** argv) {
  using namespace perftape;
  return cli::Main<convert_tool::Plan>(
      {convert_tool::ConvertCommand(), &convert_tool::PlanOf, &convert_tool::Run}, argc, argv);
}
