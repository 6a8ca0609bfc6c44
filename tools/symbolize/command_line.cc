// SPDX-License-Identifier: Apache-2.0
#include "tools/symbolize/command_line.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tools/common/cli/escape.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/symbol_options.h"

namespace perftape::symbolize_tool {
namespace {

using cli::Completion;

constexpr cli::Option kFileOptions[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "the perf.data, pprof or folded stacks, instead of the operand; - is stdin",
     .completion = Completion::kFile},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "the same with names; - is stdout, the default",
     .completion = Completion::kFile},
    {.name = "from",
     .argument = "FORMAT",
     .help = "what the input is, instead of what its first bytes say: perf.data, folded or pprof",
     .completion = Completion::kChoice,
     .choices = "perf.data folded pprof"},
    {.name = "to-cache",
     .argument = "DIR",
     .help = "put the symbol files of a perf.data into DIR, laid out as ~/.debug, for perf "
             "--buildid-dir DIR",
     .completion = Completion::kFile},
    {.name = "force",
     .letter = 'f',
     .help = "replace an existing output, and names that are there already where others are found"},
};

constexpr cli::Option kReportOptions[] = {
    {.name = "json", .help = "tell what was named and from where as one JSON object on stdout"},
    {.name = "quiet", .letter = 'q', .help = "errors only"},
    {.name = "verbose", .letter = 'v', .help = "also the names found in each binary"},
};

constexpr auto kOptions = cli::Joined(kFileOptions, cli::kSymbolOptions, kReportOptions);

constexpr cli::Command kCommand = {
    .name = "perftape-symbolize",
    .purpose =
        "Give names to the addresses in a pprof or in folded stacks, and to a perf.data what its "
        "names need, from saved symbols.",
    .operands = "[FILE]",
    .options = kOptions,
    .epilogue =
        "Examples:\n"
        "  perftape-symbolize raw.pb.gz --symfs /mnt/host -o named.pb.gz\n"
        "  perftape-symbolize raw.folded --kallsyms kallsyms.saved > named.folded\n"
        "  perftape-symbolize perf.data --debug-dir symbols -o carried.data\n"
        "  perftape-symbolize perf.data --to-cache ~/.debug && perf report\n"
        "  perftape-symbolize raw.pb.gz --bundle host.tar.zst --show-sources -o named.pb.gz\n"
        "Exit status: 0 done, 1 failed, 2 usage, 3 done but the input was damaged.\n"};

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<std::filesystem::path> InputOf(const cli::Parsed& parsed) {
  std::vector<std::string> inputs = parsed.operands();
  for (const std::string_view input : parsed.Values("input")) inputs.emplace_back(input);
  if (inputs.empty()) return Usage("what is to get names? A file, or - for stdin");
  if (inputs.size() > 1) {
    return Usage(
        fmt::format("one file at a time, not also '{}'", cli::EscapeForTerminal(inputs[1])));
  }
  return std::filesystem::path(inputs.front());
}

}  // namespace

const cli::Command& SymbolizeCommand() {
  return kCommand;
}

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  Plan plan;
  TRY_ASSIGN(plan.input, InputOf(parsed));
  if (const auto from = parsed.Value("from")) {
    plan.from = convert::FindFormat(*from);
    if (plan.from == nullptr || plan.from->read == nullptr) {
      return Usage(fmt::format("--from: '{}' is not among: perf.data, folded, pprof",
                               cli::EscapeForTerminal(*from)));
    }
  }
  plan.cache = parsed.Value("to-cache").value_or("");
  // Whoever fills a cache wants no copy of the recording besides.
  plan.output = plan.cache.empty() ? "-" : "";
  if (const auto output = parsed.Value("output")) {
    if (output->empty()) return Usage("-o: the name is empty");
    plan.output = cli::OutputNamed(*output);
  }
  TRY_ASSIGN(plan.symbols, cli::SymbolOptionsOf(parsed));
  if (parsed.Has("force")) {
    plan.if_exists = IfExists::kReplace;
    plan.symbols.replace_names = true;
  }
  plan.show_sources = parsed.Has("show-sources");
  if (parsed.Has("json")) {
    if (plan.output == "-") {
      return Usage("--json: stdout is the output already; -o FILE gives it another place");
    }
    plan.report_as = ReportAs::kJson;
  }
  return plan;
}

}  // namespace perftape::symbolize_tool
