// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tools/common/cli/escape.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/values.h"
#include "tools/common/profiles/symbol_options.h"
#include "tools/convert/filter_options.h"
#include "tools/convert/inputs.h"

namespace perftape::convert_tool {
namespace {

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// The formats that can do what `can` asks, for messages.
template <class Can>
std::string NamesOf(Can can) {
  std::string names;
  for (const convert::Format& format : convert::AllFormats()) {
    if (!can(format)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return names;
}

bool CanRead(const convert::Format& format) {
  return format.read != nullptr;
}

bool CanWrite(const convert::Format& format) {
  return format.write != nullptr || format.rewrite != nullptr;
}

template <class Can>
Result<const convert::Format*> FormatNamed(std::string_view option, std::string_view name,
                                           Can can) {
  const convert::Format* format = convert::FindFormat(name);
  if (format == nullptr || !can(*format)) {
    return Usage(fmt::format("{}: '{}' is not among: {}", option, cli::EscapeForTerminal(name),
                             NamesOf(can)));
  }
  return format;
}

std::optional<std::string> EnvironmentVariable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Status ReadInputs(const cli::Parsed& parsed, Plan& plan) {
  for (const std::string& input : parsed.operands()) plan.inputs.emplace_back(input);
  for (const std::string_view input : parsed.Values("input")) plan.inputs.emplace_back(input);
  for (const std::string_view list : parsed.Values("files-from0")) {
    TRY_ASSIGN(const auto listed, ReadFilesFrom0(list));
    plan.inputs.insert(plan.inputs.end(), listed.begin(), listed.end());
  }
  if (plan.inputs.empty() && !parsed.Has("files-from0")) {
    return Usage("what is to be converted? Files, or - for stdin");
  }
  if (std::ranges::count(plan.inputs, "-") > 1) return Usage("stdin can be read only once");
  if (const auto shard = parsed.Value("shard")) {
    TRY_ASSIGN(const Shard part, ParseShard(*shard, EnvironmentVariable));
    plan.inputs = PartOf(plan.inputs, part);
  }
  return {};
}

// Sets plan.output and plan.to.
Status ReadOutput(const cli::Parsed& parsed, Plan& plan) {
  const auto to = parsed.Value("to");
  const auto output = parsed.Value("output");
  if (!to && !output) return Usage("where to? -o FILE, or --to FORMAT for stdout");
  if (output && output->empty()) return Usage("-o: the name is empty");
  plan.output = output ? cli::OutputNamed(*output) : "-";
  if (to) {
    TRY_ASSIGN(plan.to, FormatNamed("--to", *to, CanWrite));
    return {};
  }
  plan.to = convert::FormatByEnding(*output);
  if (plan.to != nullptr && CanWrite(*plan.to)) return {};
  return Usage(fmt::format("-o {}: its ending does not say what it should become; --to does: {}",
                           *output, NamesOf(CanWrite)));
}

// Options that say something of one format must not be given for another.
Status CheckOptionsOf(const cli::Parsed& parsed, const convert::Format& to) {
  struct OptionOfFormat {
    std::string_view option, format;
  };
  static constexpr OptionOfFormat kOptionsOfFormats[] = {{"compression-level", "perf.data"},
                                                         {"pipe", "perf.data"},
                                                         {"compat", "perf.data"},
                                                         {"symbol-dir", "perf.data"},
                                                         {"no-labels", "pprof"},
                                                         {"labels", "pprof"},
                                                         {"no-gzip", "pprof"},
                                                         {"compress-level", "pprof"},
                                                         {"mark-kernel", "folded"},
                                                         {"root", "folded"},
                                                         {"values", "folded"}};
  for (const auto& [option, format] : kOptionsOfFormats) {
    if (!parsed.Has(option) || to.name == format) continue;
    return Usage(fmt::format("--{}: only for --to {}", option, format));
  }
  return {};
}

// What only a perf.data that is written can be told.
Status ReadPerfDataOptions(const cli::Parsed& parsed, Plan& plan) {
  const Result<OutputTarget> target = ResolveOutput(plan.output);
  if (parsed.Has("pipe") || (target && target->is_stream())) {
    plan.normalize.container = perfdata::Container::kPipe;
    plan.write.perfdata.container = perfdata::Container::kPipe;
  }
  if (const auto directory = parsed.Value("symbol-dir")) {
    if (directory->empty()) return Usage("--symbol-dir: the name is empty");
    plan.write.perfdata.symbol_dir = *directory;
  }
  if (const auto level = parsed.Value("compression-level")) {
    TRY_ASSIGN(plan.normalize.compression_level, cli::ParseCompressionLevel("-z", *level));
    plan.write.perfdata.compression_level = plan.normalize.compression_level;
  }
  plan.write.perfdata.symbol_dir = parsed.Value("symbol-dir").value_or("");
  const auto version = parsed.Value("compat");
  if (!version) return {};
  plan.normalize.reader = rewrite::FindReaderLimits(*version);
  if (plan.normalize.reader != nullptr) return {};
  return Usage(
      fmt::format("--compat: '{}' is not among: 6.1, 6.12", cli::EscapeForTerminal(*version)));
}

Result<convert::FoldedValue> FoldedValueOf(const cli::Parsed& parsed) {
  const std::string_view kind = parsed.Value("values").value_or("samples");
  if (kind == "samples") return convert::FoldedValue::kSamples;
  if (kind == "period") return convert::FoldedValue::kPeriod;
  return Usage(fmt::format("--values: '{}' is not among: samples, period", kind));
}

Result<folded::Root> RootOf(const cli::Parsed& parsed, std::string_view option,
                            std::string_view otherwise) {
  const std::string_view kind = parsed.Value(option).value_or(otherwise);
  if (kind == "none") return folded::Root::kNone;
  if (kind == "comm") return folded::Root::kComm;
  if (kind == "comm/pid") return folded::Root::kCommPid;
  if (kind == "comm/pid/tid") return folded::Root::kCommPidTid;
  return Usage(fmt::format("--{}: '{}' is not among: comm, comm/pid, comm/pid/tid, none", option,
                           cli::EscapeForTerminal(kind)));
}

Status ReadFoldedOptions(const cli::Parsed& parsed, Plan& plan) {
  convert::FoldedOptions& write = plan.write.folded;
  TRY_ASSIGN(write.value, FoldedValueOf(parsed));
  TRY_ASSIGN(write.root, RootOf(parsed, "root", "comm"));
  write.mark_kernel = parsed.Has("mark-kernel");
  write.differential = parsed.Has("differential");
  TRY_ASSIGN(plan.import.root, RootOf(parsed, "input-root", "none"));
  plan.import.differential = parsed.Has("differential");
  plan.import.lenient = parsed.Has("lenient");
  return {};
}

Status ReadPprofOptions(const cli::Parsed& parsed, Plan& plan) {
  if (parsed.Has("no-labels") && parsed.Has("labels")) {
    return Usage("--labels and --no-labels: one of them");
  }
  plan.write.pprof.thread_labels = !parsed.Has("no-labels");
  for (std::string_view list : parsed.Values("labels")) {
    while (true) {
      const std::size_t comma = list.find(',');
      const std::string_view label = list.substr(0, comma);
      if (label != "cpu" && label != "cgroup") {
        return Usage(
            fmt::format("--labels: '{}' is not among: cpu, cgroup", cli::EscapeForTerminal(label)));
      }
      (label == "cpu" ? plan.import.cpu_label : plan.import.cgroup_label) = true;
      if (comma == std::string_view::npos) break;
      list.remove_prefix(comma + 1);
    }
  }
  if (parsed.Has("no-gzip") && parsed.Has("compress-level")) {
    return Usage("--no-gzip and --compress-level: one of them");
  }
  if (parsed.Has("no-gzip")) plan.write.pprof.compression = convert::PprofCompression::kNone;
  if (const auto level = parsed.Value("compress-level")) {
    TRY_ASSIGN(const std::uint64_t number,
               cli::ParseNumber("--compress-level", *level, {.smallest = 1, .largest = 12}));
    plan.write.pprof.level = static_cast<int>(number);
  }
  return {};
}

Status ReadSymbolOptions(const cli::Parsed& parsed, Plan& plan) {
  if (parsed.Has("no-symbols")) {
    plan.symbols = Symbols::kNone;
    for (const cli::Option& option : cli::kSymbolOptions) {
      if (!parsed.Has(option.key())) continue;
      return Usage(fmt::format("{} and --no-symbols: one of them", option.spelled()));
    }
  }
  TRY_ASSIGN(plan.symbol_options, cli::SymbolOptionsOf(parsed));
  plan.show_sources = parsed.Has("show-sources");
  return {};
}

Status ReadThreads(const cli::Parsed& parsed, Plan& plan) {
  TRY_ASSIGN(plan.import.threads, cli::ParseThreads("-j", parsed.Value("threads")));
  plan.write.folded.threads = plan.import.threads;
  return {};
}

}  // namespace

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  Plan plan;
  TRY(ReadInputs(parsed, plan));
  TRY(ReadOutput(parsed, plan));
  if (const auto from = parsed.Value("from")) {
    TRY_ASSIGN(plan.from, FormatNamed("--from", *from, CanRead));
  }
  TRY(CheckOptionsOf(parsed, *plan.to));
  TRY(ReadPerfDataOptions(parsed, plan));
  TRY(ReadFoldedOptions(parsed, plan));
  TRY(ReadPprofOptions(parsed, plan));
  TRY(ReadSymbolOptions(parsed, plan));
  TRY(ReadThreads(parsed, plan));
  if (const auto time = parsed.Value("time")) {
    TRY_ASSIGN(plan.import.time, ParseTimeRange(*time));
  }
  TRY_ASSIGN(plan.filter, FilterOf(parsed));
  if (parsed.Has("force")) plan.write.if_exists = IfExists::kReplace;
  if (parsed.Has("json")) plan.report_as = ReportAs::kJson;
  if (parsed.Has("json") && plan.output == "-") {
    return Usage("--json: stdout is the output already; -o FILE gives it another place");
  }
  return plan;
}

}  // namespace perftape::convert_tool
