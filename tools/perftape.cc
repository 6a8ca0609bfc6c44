// SPDX-License-Identifier: Apache-2.0
// perftape VERB …: runs the tool perftape-VERB. It is a program in the same directory, which is
// executed, as git does, or part of this one: then PERFTAPE_SINGLE_FILE is 1, and this program is
// the tool, too, if it is started under the tool's name.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/cli/console.h"
#include "tools/common/cli/help.h"
#include "tools/convert/perf_to_profile.h"
#include "tools/mains.h"

namespace perftape {
namespace {

constexpr bool kIsSingleFile = PERFTAPE_SINGLE_FILE != 0;
constexpr std::string_view kPrefix = "perftape-";

using MainFunction = int (*)(int argc, char** argv);

// Returns null for a tool that is a program of its own, so that it is not linked.
consteval MainFunction InSingleFile(MainFunction main) {
  return kIsSingleFile ? main : nullptr;
}

constexpr cli::Verb kVerbs[] = {
    {.name = "record",
     .summary = "record where programs spend their time, into a perf.data",
     .main = InSingleFile(&record_tool::Main)},
    {.name = "doctor",
     .summary = "check what can be recorded here, and what is missing for the rest",
     .main = InSingleFile(&doctor_tool::Main)},
    {.name = "report",
     .summary = "show where a profile spends its time",
     .main = InSingleFile(&report_tool::Main)},
    {.name = "convert",
     .summary = "convert perf.data, folded stacks and pprof into each other",
     .main = InSingleFile(&convert_tool::Main)},
    {.name = "inspect",
     .summary = "show the content of a perf.data as text or JSON",
     .main = InSingleFile(&inspect::Main)},
    {.name = "recover",
     .summary = "write every complete record of a damaged perf.data to a new file",
     .main = InSingleFile(&recover_tool::Main)},
    {.name = "symbolize",
     .summary = "add names to the addresses in a profile, from saved symbols",
     .main = InSingleFile(&symbolize_tool::Main)},
    {.name = "bundle",
     .summary = "manage the symbols that are stored with a recording",
     .main = InSingleFile(&bundle_tool::Main)},
};

constexpr cli::Command kCommand = {
    .name = "perftape",
    .purpose =
        kIsSingleFile
            ? "Run a tool of perftape, with the arguments that follow. This file contains all "
              "tools, and is perftape-VERB if it is started under this name."
            : "Run perftape-VERB from the directory of this program, with the arguments that "
              "follow.",
    .operands = "VERB [ARGUMENT...]",
    .options = {},
    .order = cli::Order::kOptionsFirst,
    .epilogue = "'perftape help VERB' prints the same.\n",
    .verbs = kVerbs};

// Its operands are the verb and the verb's arguments.
using Plan = cli::BaseOptions;

Result<Plan> PlanOf(Plan plan) {
  if (plan.operands.empty()) {
    return Fail(ErrorCode::kInvalidArgument, std::string(cli::kNoVerb));
  }
  return plan;
}

// Returns null if there is no such verb.
const cli::Verb* FindVerb(std::string_view name) {
  const auto* const found = std::ranges::find(kVerbs, name, &cli::Verb::name);
  return found == std::end(kVerbs) ? nullptr : found;
}

// Returns the tool that this program is if it is started by this path; null for perftape.
MainFunction ToolNamed(std::string_view program) {
  std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == convert_tool::kPerfToProfile) return InSingleFile(&convert_tool::Main);
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  const cli::Verb* const verb = FindVerb(name);
  return verb == nullptr ? nullptr : verb->main;
}

// Executes a program with these words, the first of which is its file name. Returns only with an
// error.
std::unexpected<Error> ExecuteBesideThis(std::vector<char*> words) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return FailErrno("/proc/self/exe", error.value());
  std::string file = self.parent_path() / words.front();
  words.front() = file.data();
  words.push_back(nullptr);
  execv(file.c_str(), words.data());
  return FailErrno(file, errno);
}

// Runs the tool of the verb, the first of `words`. Returns its exit status.
Result<int> RunVerb(std::vector<std::string> words) {
  const cli::Verb* const verb = FindVerb(words.front());
  if (verb == nullptr) {
    return Fail(ErrorCode::kNotFound,
                cli::UnknownVerbText(kCommand, words.front()) + "\nTry 'perftape help'.");
  }
  words.front().insert(0, kPrefix);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  if (verb->main == nullptr) return ExecuteBesideThis(std::move(argv));
  argv.push_back(nullptr);
  return verb->main(static_cast<int>(words.size()), argv.data());
}

Result<int> Run(const Plan& plan, cli::Console& /*console*/) {
  if (plan.operands.front() != "help") return RunVerb(plan.operands);
  if (plan.operands.size() == 1) {
    TRY(cli::PrintToStdout(cli::HelpText(kCommand)));
    return cli::kDone;
  }
  // "help bundle list" means "bundle list --help".
  std::vector<std::string> words(plan.operands.begin() + 1, plan.operands.end());
  words.emplace_back("--help");
  return RunVerb(std::move(words));
}

}  // namespace
}  // namespace perftape

int main(int argc, char** argv) noexcept {
  using namespace perftape;
  const MainFunction tool = argc > 0 ? ToolNamed(argv[0]) : nullptr;
  if (tool != nullptr) return tool(argc, argv);
  return cli::Main<Plan>({kCommand, &PlanOf, &Run}, argc, argv);
}
