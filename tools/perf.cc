// SPDX-License-Identifier: Apache-2.0
// perftape-perf: runs the commands of perf. Under the name perf, it has perf's exit statuses and
// its meaning of --version, so that programs that call perf can use it.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/help.h"
#include "tools/common/cli/other_tool.h"
#include "tools/mains.h"
#include "tools/perf/command_line.h"
#include "tools/perf/commands.h"
#include "tools/perf/record_arguments.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

// Of perf: a wrong option, and -1 of a command (tools/lib/subcmd/parse-options.c, perf.c).
constexpr int kPerfUsage = 129;
constexpr int kPerfFailed = 255;

// The words of a command: the command and its arguments.
using Words = std::vector<std::string>;

std::vector<char*> PointersTo(Words& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Executes perftape-NAME. Returns only with an error.
std::unexpected<Error> ExecuteTool(std::string_view name, Words words) {
  words.front() = fmt::format("perftape-{}", name);
  const auto file = cli::FileOfTool(words.front());
  if (!file) return std::unexpected(file.error());
  execv(file->c_str(), PointersTo(words).data());
  return FailErrno(file->native(), errno);
}

// Passes what perf passes to the programs that it starts. There is no other thread yet.
void SetEnvironment(const PerfPlan& plan) {
  // NOLINTBEGIN(concurrency-mt-unsafe)
  const char* const pager = std::getenv("PERF_PAGER");
  if (pager != nullptr) setenv("PAGER", pager, 1);
  if (plan.no_pager) setenv("PAGER", "cat", 1);
  if (!plan.buildid_dir.empty()) setenv("PERF_BUILDID_DIR", plan.buildid_dir.c_str(), 1);
  // NOLINTEND(concurrency-mt-unsafe)
}

// Returns "--input --freq \n", which perf's completion script reads.
std::string OptionNames(const cli::Command& command) {
  std::string text;
  for (const cli::Option& option : command.options) {
    if (!option.name.empty()) text += fmt::format("--{} ", option.name);
  }
  return text + "\n";
}

Result<int> Print(const std::string& text) {
  TRY(cli::PrintToStdout(text));
  return cli::kDone;
}

Result<int> RunVerb(Words words) {
  const auto verbs = PerfCommandLine().verbs;
  const auto verb = std::ranges::find(verbs, words.front(), &cli::Verb::name);
  if (words.size() == 2 && words.back() == "--list-opts")
    return Print(OptionNames(verb->command()));
  return verb->main(static_cast<int>(words.size()), PointersTo(words).data());
}

Result<int> RunCommand(const PerfCommand& command, Words words) {
  if (command.run_by == RunBy::kVerb) return RunVerb(std::move(words));
  if (command.run_by == RunBy::kNothing) {
    return Fail(ErrorCode::kUnsupported, fmt::format("{}: {}", command.name, command.instead));
  }
  // perf shows its man page, where programs search options: hotspot does.
  if (words.size() > 1 && words[1] == "--help") words[1] = "--help-all";
  if (command.name == "record") {
    const Words arguments = RecordArguments(std::span(words).subspan(1));
    words.resize(1);
    words.insert(words.end(), arguments.begin(), arguments.end());
  }
  return ExecuteTool(command.name, std::move(words));
}

// "help evlist" means "evlist --help".
Result<int> Help(const Words& words) {
  if (words.size() == 1) return Print(cli::HelpText(PerfCommandLine(), cli::HelpDepth::kUsual));
  const PerfCommand* const command = FindPerfCommand(words[1]);
  if (command == nullptr) return Fail(ErrorCode::kNotFound, UnknownCommandText(words[1]));
  if (command->run_by == RunBy::kNothing) {
    return Print(fmt::format("perf {}: {}.\n", command->name, command->instead));
  }
  if (command->name == "help") return Help({"help"});
  return RunCommand(*command, {words[1], "--help"});
}

Result<int> Answer(PerfAnswer answer) {
  switch (answer) {
    case PerfAnswer::kCommands: {
      std::string text;
      for (const PerfCommand& command : PerfCommands()) {
        if (command.run_by != RunBy::kNothing) text += fmt::format("{} ", command.name);
      }
      return Print(text + "\n");
    }
    case PerfAnswer::kOptions:
      return Print(OptionNames(PerfCommandLine()));
    case PerfAnswer::kExecPath: {
      TRY_ASSIGN(const std::filesystem::path self, cli::FileOfTool("perftape-perf"));
      return Print(self.parent_path().native() + "\n");
    }
    case PerfAnswer::kHtmlPath:
      return Print(PERFTAPE_DOCUMENTATION "\n");
    case PerfAnswer::kPerfVersion:
      return RunVerb({"version"});
    case PerfAnswer::kNone:
      break;
  }
  return cli::kDone;
}

Result<PerfPlan> PlanOf(PerfPlan plan) {
  return plan;
}

Result<int> Run(const PerfPlan& plan, cli::Console& /*console*/) {
  if (plan.answer != PerfAnswer::kNone) return Answer(plan.answer);
  const Words& words = plan.operands;
  if (words.empty()) {
    TRY(Print(cli::HelpText(PerfCommandLine(), cli::HelpDepth::kUsual)));
    return cli::kFailed;  // as perf
  }
  SetEnvironment(plan);
  if (words.front() == "help") return Help(words);
  const PerfCommand* const command = FindPerfCommand(words.front());
  if (command == nullptr) return Fail(ErrorCode::kNotFound, UnknownCommandText(words.front()));
  return RunCommand(*command, words);
}

// Whether the status of a failure is perf's 255: it is 1 without a command that perf knows.
bool RunsCommand(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (FindPerfCommand(argv[i]) != nullptr) return true;
  }
  return false;
}

int PerfStatus(int status, bool runs_command) {
  if (status == cli::kUsage) return kPerfUsage;
  if (status == cli::kDegraded) return cli::kDone;
  return status == cli::kFailed && runs_command ? kPerfFailed : status;
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  const cli::Tool<PerfPlan> tool = {PerfCommandLine(), &PlanOf, &Run};
  const std::string_view program = argc > 0 ? argv[0] : "";
  if (program.substr(program.rfind('/') + 1) != kPerf) return cli::Main(tool, argc, argv);
  std::vector<char*> words(argv, argv + argc + 1);
  char version[] = "version";
  if (argc > 1 && std::string_view(argv[1]) == "--version") words[1] = version;
  return PerfStatus(cli::Main(tool, argc, words.data()), RunsCommand(argc, argv));
}

}  // namespace perftape::perf_tool
