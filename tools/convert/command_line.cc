// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/command_line.h"

#include <fmt/format.h>

#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::convert_tool {
namespace {

using cli::Completion;

constexpr cli::Option kOptions[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "what to convert, instead of the operand; - is stdin",
     .completion = Completion::kFile},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "the result; - is stdout, the default where --to is given",
     .completion = Completion::kFile},
    {.name = "from",
     .argument = "FORMAT",
     .help = "what the input is, instead of what its first bytes say: perf.data or pprof",
     .completion = Completion::kChoice,
     .choices = "perf.data pprof"},
    {.name = "to",
     .argument = "FORMAT",
     .help = "what the output becomes, instead of what its ending says: folded (.folded, "
             ".collapsed), pprof (.pb.gz, .pb, .pprof) or perf.data (.data)",
     .completion = Completion::kChoice,
     .choices = "folded pprof perf.data"},
    {.name = "force", .letter = 'f', .help = "replace an existing output"},
    {.name = "values",
     .argument = "KIND",
     .help = "what folded lines count: samples (default) or period",
     .completion = Completion::kChoice,
     .choices = "samples period"},
    {.name = "event",
     .argument = "NAME",
     .help = "the event whose samples become folded lines (default the first that has any)"},
    {.name = "mark-kernel", .help = "put _[k] behind the names of kernel frames in folded lines"},
    {.name = "no-comm", .help = "begin folded lines with the first frame, not with the comm"},
    {.name = "no-symbols", .help = "look up no names: frames are [file] or [unknown]"},
    {.name = "kallsyms",
     .argument = "FILE",
     .help = "names of the kernel, saved from the /proc/kallsyms of the recording machine",
     .completion = Completion::kFile},
    {.name = "buildid-dir",
     .argument = "DIR",
     .help = "binaries by build id, as perf keeps them (default ~/.debug)",
     .completion = Completion::kFile},
    {.name = "compression-level",
     .letter = 'z',
     .argument = "LEVEL",
     .help = "compress the records of a perf.data with zstd: 1, the fastest (default), to 22, the "
             "smallest; without it what was compressed is expanded",
     .argument_is_optional = true},
    {.name = "pipe",
     .help = "write a perf.data as the stream that perf record -o - writes, which is what stdout "
             "gets in any case"},
    {.name = "compat",
     .argument = "VERSION",
     .help = "leave out of a perf.data what that version of perf does not know: 6.1 or 6.12",
     .completion = Completion::kChoice,
     .choices = "6.1 6.12"},
    {.name = "quiet", .letter = 'q', .help = "errors only"},
    {.name = "verbose", .letter = 'v', .help = "also how many names were found in each binary"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-convert",
    .purpose =
        "Convert a perf.data into folded stacks or pprof, with names from the symbol "
        "tables of this machine, or into a perf.data that others read.",
    .operands = "[FILE]",
    .options = kOptions,
    .epilogue =
        "Examples:\n"
        "  perftape-convert perf.data -o out.folded\n"
        "  perftape-convert perf.data -o out.pb.gz && go tool pprof -top out.pb.gz\n"
        "  perftape-record -o - -a --duration 5 | perftape-convert - --to folded\n"
        "  perftape-convert new.data -o old.data --compat 6.1 && perf report -i old.data\n"
        "Exit status: 0 done, 1 failed, 2 usage, 3 done but the input was damaged.\n"};

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// The formats that can do what `can` asks, for messages.
template <class Can>
std::string NamesOf(Can can) {
  std::string names;
  for (const Format& format : AllFormats()) {
    if (!can(format)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return names;
}

bool CanRead(const Format& format) {
  return format.read != nullptr;
}

bool CanWrite(const Format& format) {
  return format.write != nullptr || format.rewrite != nullptr;
}

template <class Can>
Result<const Format*> FormatNamed(std::string_view option, std::string_view name, Can can) {
  const Format* format = FindFormat(name);
  if (format == nullptr || !can(*format)) {
    return Usage(fmt::format("{}: '{}' is not among: {}", option, cli::EscapeForTerminal(name),
                             NamesOf(can)));
  }
  return format;
}

Result<std::filesystem::path> InputOf(const cli::Parsed& parsed) {
  std::vector<std::string> inputs = parsed.operands();
  for (const std::string_view input : parsed.Values("input")) inputs.emplace_back(input);
  if (inputs.empty()) return Usage("what is to be converted? A file, or - for stdin");
  if (inputs.size() > 1) {
    return Usage(fmt::format("one input at a time, not also '{}'", inputs[1]));
  }
  return std::filesystem::path(inputs.front());
}

// Sets plan.output and plan.to.
Status ReadOutput(const cli::Parsed& parsed, Plan& plan) {
  const auto to = parsed.Value("to");
  const auto output = parsed.Value("output");
  if (!to && !output) return Usage("where to? -o FILE, or --to FORMAT for stdout");
  plan.output = output.value_or("-");
  if (plan.output.empty()) return Usage("-o: the name is empty");
  if (to) {
    TRY_ASSIGN(plan.to, FormatNamed("--to", *to, CanWrite));
    return {};
  }
  plan.to = FormatByEnding(plan.output.native());
  if (plan.to != nullptr && CanWrite(*plan.to)) return {};
  return Usage(fmt::format("-o {}: its ending does not say what it should become; --to does: {}",
                           plan.output.native(), NamesOf(CanWrite)));
}

// What only a perf.data that is written can be told.
Status ReadNormalization(const cli::Parsed& parsed, Plan& plan) {
  for (const std::string_view option : {"compression-level", "pipe", "compat"}) {
    if (!parsed.Has(option) || plan.to->rewrite != nullptr) continue;
    return Usage(fmt::format("--{}: only for --to perf.data", option));
  }
  if (parsed.Has("pipe") || plan.output == "-") {
    plan.normalize.container = perfdata::Container::kPipe;
  }
  if (const auto level = parsed.Value("compression-level")) {
    TRY_ASSIGN(plan.normalize.compression_level, cli::ParseCompressionLevel("-z", *level));
  }
  const auto version = parsed.Value("compat");
  if (!version) return {};
  plan.normalize.reader = rewrite::FindReaderLimits(*version);
  if (plan.normalize.reader != nullptr) return {};
  return Usage(
      fmt::format("--compat: '{}' is not among: 6.1, 6.12", cli::EscapeForTerminal(*version)));
}

Result<FoldedValue> FoldedValueOf(const cli::Parsed& parsed) {
  const std::string_view kind = parsed.Value("values").value_or("samples");
  if (kind == "samples") return FoldedValue::kSamples;
  if (kind == "period") return FoldedValue::kPeriod;
  return Usage(fmt::format("--values: '{}' is not among: samples, period", kind));
}

}  // namespace

const cli::Command& ConvertCommand() {
  return kCommand;
}

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  Plan plan;
  TRY_ASSIGN(plan.input, InputOf(parsed));
  TRY(ReadOutput(parsed, plan));
  if (const auto from = parsed.Value("from")) {
    TRY_ASSIGN(plan.from, FormatNamed("--from", *from, CanRead));
  }
  TRY(ReadNormalization(parsed, plan));
  if (parsed.Has("force")) plan.write.if_exists = IfExists::kReplace;
  if (parsed.Has("no-symbols")) plan.symbols = Symbols::kNone;
  if (const auto kallsyms = parsed.Value("kallsyms")) {
    if (plan.symbols == Symbols::kNone) return Usage("--kallsyms and --no-symbols: one of them");
    plan.symbol_options.kallsyms = *kallsyms;
  }
  if (const auto directory = parsed.Value("buildid-dir")) {
    if (plan.symbols == Symbols::kNone) return Usage("--buildid-dir and --no-symbols: one of them");
    plan.symbol_options.build_id_cache = *directory;
  }
  plan.event = parsed.Value("event").value_or("");
  TRY_ASSIGN(plan.write.folded.value, FoldedValueOf(parsed));
  plan.write.folded.mark_kernel = parsed.Has("mark-kernel");
  if (parsed.Has("no-comm")) plan.write.folded.root = folded::Root::kNone;
  return plan;
}

}  // namespace perftape::convert_tool
