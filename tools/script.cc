// SPDX-License-Identifier: Apache-2.0
// perftape-script: prints the samples of a perf.data as text.
#include <fmt/core.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "convert/import/first_pass.h"
#include "convert/import/stack_copies.h"
#include "convert/script/header_text.h"
#include "convert/script/listing.h"
#include "convert/symbolize/symbol_sources.h"
#include "formats/base/counted.h"
#include "formats/base/input.h"
#include "formats/base/output_file.h"
#include "formats/bundle/expanded_input.h"
#include "formats/perfdata/reader.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/common/profiles/symbol_report.h"
#include "tools/mains.h"
#include "tools/script/command_line.h"

namespace perftape::script_tool {
namespace {

// The names and code of a recording, opened when they are needed.
class Sources {
 public:
  // `input` must outlive this object.
  Sources(const symbolize::SymbolOptions& options, Input& input)
      : options_(options), input_(input) {}

  // Finds jitdumps and the binaries of copied stacks.
  convert::ImportOptions ImportOptions() {
    return {.find_jit_dump = std::bind_front(&Sources::FindDump, this),
            .find_binary = std::bind_front(&Sources::FindBinary, this),
            .index_cache = options_.index_cache};
  }

  // Opens what is not open yet, and names the frames.
  Status Name(listing::Frames& frames, symbolize::SymbolizeReport& report) {
    TRY(Open());
    frames.Name(*sources_, *origin_, report);
    return {};
  }

 private:
  Status Open() {
    if (sources_) return {};
    TRY_ASSIGN(auto sources, symbolize::SymbolSources::Open(options_));
    sources_.emplace(std::move(sources));
    origin_.emplace(input_);
    return {};
  }

  Result<convert::JitDumpBytes> FindDump(const std::string& path, std::uint32_t pid) {
    TRY(Open());
    origin_->LearnLives(std::span(&pid, 1));
    TRY_ASSIGN(symbolize::FoundJitFile file,
               symbolize::FindJitDump(path, pid, sources_->JitSearchPathOf(*origin_)));
    return convert::JitDumpBytes{
        .bytes = file.bytes, .keeper = std::move(file.keeper), .own_pid = file.own_pid};
  }

  Result<const elf::ElfFile*> FindBinary(const std::string& path, const BuildId& build_id) {
    TRY(Open());
    if (!find_) find_ = sources_->BinariesOf(*origin_);
    return find_(path, build_id);
  }

  const symbolize::SymbolOptions& options_;
  Input& input_;
  std::optional<symbolize::SymbolSources> sources_;
  std::optional<symbolize::ProfileOrigin> origin_;
  symbolize::SymbolSources::BinaryFinder find_;
};

// The output, or a file for each event.
class Outputs {
 public:
  explicit Outputs(const ScriptPlan& plan) : plan_(plan) {}

  Status Write(std::string_view event, std::string_view lines) {
    const bool is_one = plan_.dump == Dump::kOneOutput;
    const std::filesystem::path path = is_one ? plan_.output : DumpPath(plan_, event);
    if (last_ == nullptr || (!is_one && path != last_path_)) {
      TRY_ASSIGN(last_, FileAt(path));
      last_path_ = path;
    }
    return last_->Write(lines);
  }

  Status Commit() && {
    if (plan_.dump == Dump::kOneOutput) TRY(FileAt(plan_.output));
    for (auto& [path, file] : files_) TRY(std::move(file).Commit());
    return {};
  }

 private:
  Result<OutputFile*> FileAt(const std::filesystem::path& path) {
    const auto known = files_.find(path);
    if (known != files_.end()) return &known->second;
    TRY_ASSIGN(OutputFile file, OutputFile::Create(path, plan_.if_exists));
    return &files_.emplace(path, std::move(file)).first->second;
  }

  const ScriptPlan& plan_;
  std::map<std::filesystem::path, OutputFile> files_;
  OutputFile* last_ = nullptr;
  std::filesystem::path last_path_;
};

Status CheckDefaultInput(const ScriptPlan& plan) {
  std::error_code error;
  if (!plan.operands.empty() || std::filesystem::exists(plan.input, error)) return {};
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("{}: no such file here: record first, with 'perftape-record -- COMMAND' or "
                  "'perftape-record -a --duration 5', or name a file",
                  plan.input.string()));
}

void PrintNaming(const ScriptPlan& plan, const symbolize::SymbolizeReport& report,
                 cli::Console& console) {
  for (const std::string& problem : report.problems) console.Warning(problem);
  for (const std::string& line : cli::MappingLines(report)) console.Detail(line);
  if (!plan.show_sources) return;
  for (const std::string& line : cli::SymbolSourceLines(report)) console.Note(line);
}

// Prints what could not be read. Returns the exit status.
int PrintDamage(const std::string& name, const perfdata::Reader& reader,
                const listing::Listing::Report& report, cli::Console& console) {
  int status = cli::kDone;
  const auto warn = [&](std::string_view problem) {
    console.Warning(fmt::format("{}: {}", name, problem));
    status = cli::kDegraded;
  };
  for (const std::string& problem : reader.problems()) warn(problem);
  if (report.unread != 0) {
    warn(fmt::format("not printed, because of an unknown event or cut off: {}; the first is at {}",
                     Counted(report.unread, "sample"), report.first_unread));
  }
  if (report.damage) warn(report.damage->message);
  return status;
}

// The time of the file as ctime(3) writes it; empty for stdin.
std::string CaptureTime(const ScriptPlan& plan) {
  struct stat status = {};
  struct tm time = {};
  char text[32];
  if (plan.input == "-" || stat(plan.input.c_str(), &status) != 0) return {};
  if (localtime_r(&status.st_mtime, &time) == nullptr) return {};
  return std::string(text, strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &time));
}

Result<int> List(const ScriptPlan& plan, std::string_view capture_time, cli::Console& console) {
  TRY_ASSIGN(Input input, bundle::OpenExpanded(plan.input));
  if (input.is_stream()) TRY(input.All());
  Result<perfdata::Reader> reader = perfdata::Reader::Open(input);
  if (!reader) return Fail(InContext(input.name(), std::move(reader).error()));
  Outputs outputs(plan);
  if (plan.header != Header::kNone) {
    TRY(outputs.Write({}, listing::HeaderText(*reader, capture_time)));
  }
  if (plan.header == Header::kOnly) {
    TRY(std::move(outputs).Commit());
    return cli::kDone;
  }
  listing::Options options = plan.listing;
  TRY(options.fields.Fit(reader->events()));
  for (const std::string& warning : plan.field_warnings) console.Note(warning);

  Sources sources(plan.symbol_options, input);
  const convert::ImportOptions import = sources.ImportOptions();
  convert::ImportReport import_report;
  const convert::FirstPass first_pass = convert::RunFirstPass(*reader, import, import_report);
  listing::Listing listing(*reader, first_pass, options);
  offline_unwind::BinaryTables tables(import.find_binary, import.index_cache);
  std::optional<offline_unwind::SampleUnwinder> unwinder;
  if (convert::UnwindsStacks(*reader, import)) {
    unwinder.emplace(convert::MakeUnwinder(*reader, import, first_pass, tables, nullptr));
    listing.SetUnwinder(*unwinder);
  }
  listing.Collect();
  symbolize::SymbolizeReport naming;
  if (listing.needs_names()) {
    TRY(sources.Name(listing.frames(), naming));
  } else {
    listing.frames().LeaveUnnamed();
  }
  PrintNaming(plan, naming, console);

  TRY_ASSIGN(const listing::Listing::Report report,
             listing.Print(std::bind_front(&Outputs::Write, &outputs)));
  TRY(std::move(outputs).Commit());
  return PrintDamage(input.name(), *reader, report, console);
}

Result<int> Run(const ScriptPlan& plan, cli::Console& console) {
  TRY(CheckDefaultInput(plan));
  if (plan.dump == Dump::kOneOutput) TRY(cli::CheckOutput(plan.output, plan.if_exists));
  // A pager cannot be started in the sandbox.
  std::optional<cli::Pager> pager;
  const bool is_shown = plan.dump == Dump::kOneOutput && plan.output == "-" && cli::IsTerminal();
  if (is_shown && !plan.no_pager) pager.emplace();
  const std::string capture_time = CaptureTime(plan);  // reads the zone of the machine
  if (!plan.no_sandbox) TRY(Confine(plan));
  Result<int> status = List(plan, capture_time, console);
  // Fields can only be checked with the file.
  if (!status && status.error().code == ErrorCode::kInvalidArgument) {
    console.Error(status.error().message);
    return cli::kUsage;
  }
  return status;
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  return cli::Main<ScriptPlan>({ScriptCommand(), &PlanOf, &Run}, argc, argv);
}

}  // namespace perftape::script_tool
