// SPDX-License-Identifier: Apache-2.0
#include "tools/recover/command_line.h"

#include <fmt/format.h>

#include <filesystem>

#include "tools/common/cli/output.h"

namespace perftape::recover_tool {
namespace {

using cli::Completion;

constexpr cli::Option kOptions[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "the damaged perf.data, instead of the operand; - is stdin",
     .completion = Completion::kFile},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "the good one, which has its name only when it is complete",
     .completion = Completion::kFile},
    {.name = "force", .letter = 'f', .help = "replace an existing output"},
    {.name = "json", .help = "tell what was kept and dropped as one JSON object"},
    {.name = "quiet", .letter = 'q', .help = "tell nothing where it went well"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-recover",
    .purpose =
        "Write every complete record of a damaged perf.data into a good one, and say what was "
        "kept, what was dropped, and from where.",
    .operands = "[FILE]",
    .options = kOptions,
    .epilogue =
        "Examples:\n"
        "  perftape-recover perf.data -o good.data && perf report -i good.data\n"
        "  ssh host cat perf.data | perftape-recover - -o good.data\n"
        "Exit status: 0 nothing was lost, 1 nothing could be recovered, 2 usage, 3 recovered, but "
        "something was lost or guessed.\n"};

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

}  // namespace

const cli::Command& RecoverCommand() {
  return kCommand;
}

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  std::vector<std::string> inputs = parsed.operands();
  for (const std::string_view input : parsed.Values("input")) inputs.emplace_back(input);
  if (inputs.empty()) return Usage("what is to be recovered? A file, or - for stdin");
  if (inputs.size() > 1) {
    return Usage(fmt::format("one file at a time, not also '{}'", inputs[1]));
  }
  const auto output = parsed.Value("output");
  if (!output || output->empty()) return Usage("where to? -o FILE");
  const std::filesystem::path path = cli::OutputNamed(*output);
  if (path == "-") return Usage("-o -: a perf.data file cannot go through a pipe; -o FILE");
  return Plan{.input = inputs.front(),
              .output = path,
              .if_exists = parsed.Has("force") ? IfExists::kReplace : IfExists::kRefuse,
              .report_as = parsed.Has("json") ? ReportAs::kJson : ReportAs::kText};
}

}  // namespace perftape::recover_tool
