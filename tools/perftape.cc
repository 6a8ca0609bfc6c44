// SPDX-License-Identifier: Apache-2.0
// perftape VERB …: runs perftape-VERB from its own directory, as git does.
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

namespace perftape {
namespace {

constexpr std::string_view kPrefix = "perftape-";

constexpr cli::Verb kVerbs[] = {
    {"record", "record where programs spend their time, into a perf.data"},
    {"doctor", "check what can be recorded here, and what is missing for the rest"},
    {"convert", "convert perf.data, folded stacks and pprof into each other"},
    {"inspect", "show the content of a perf.data as text or JSON"},
    {"recover", "write every complete record of a damaged perf.data to a new file"},
    {"symbolize", "add names to the addresses in a profile, from saved symbols"},
    {"bundle", "manage the symbols that are stored with a recording"},
};

constexpr cli::Command kCommand = {
    .name = "perftape",
    .purpose =
        "Run perftape-VERB from the directory of this program, with the arguments that follow.",
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

// Executes the program of the verb, the first of `words`. Returns only with an error.
Result<int> RunVerb(std::vector<std::string> words) {
  if (std::ranges::find(kVerbs, words.front(), &cli::Verb::name) == std::end(kVerbs)) {
    return Fail(ErrorCode::kNotFound,
                cli::UnknownVerbText(kCommand, words.front()) + "\nTry 'perftape help'.");
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return FailErrno("/proc/self/exe", error.value());
  words.front() = self.parent_path() / (std::string(kPrefix) + words.front());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv.front(), argv.data());
  return FailErrno(words.front(), errno);
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
  return cli::Main<Plan>({kCommand, &PlanOf, &Run}, argc, argv);
}
