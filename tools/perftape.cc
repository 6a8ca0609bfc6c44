// SPDX-License-Identifier: Apache-2.0
// perftape VERB …: runs perftape-VERB from beside itself, as git does.
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
    {"record", "where programs spend their time, into a perf.data"},
    {"convert", "a perf.data into folded stacks or pprof, with names, and back"},
    {"inspect", "what is in a perf.data, as text or JSON"},
    {"recover", "every complete record of a damaged perf.data into a good one"},
    {"symbolize", "names for addresses, from saved symbols"},
    {"bundle", "what the symbols of a recording need, carried along with it"},
};

constexpr cli::Command kCommand = {
    .name = "perftape",
    .purpose = "Run perftape-VERB, which lies beside this program, with the arguments that follow.",
    .operands = "VERB [ARGUMENT...]",
    .options = {},
    .order = cli::Order::kOptionsFirst,
    .epilogue = "perftape help VERB tells the same.\n",
    .verbs = kVerbs};

struct Plan {
  std::vector<std::string> words;  // the verb and its arguments
};

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  if (parsed.operands().empty()) return Fail(ErrorCode::kInvalidArgument, "which verb?");
  return Plan{parsed.operands()};
}

// Becomes the program of the verb that `words` begin with; returns where it cannot.
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
  if (plan.words.front() != "help") return RunVerb(plan.words);
  if (plan.words.size() == 1) {
    TRY(cli::PrintToStdout(cli::HelpText(kCommand)));
    return cli::kDone;
  }
  // "help bundle list" is "bundle list --help".
  std::vector<std::string> words(plan.words.begin() + 1, plan.words.end());
  words.emplace_back("--help");
  return RunVerb(std::move(words));
}

}  // namespace
}  // namespace perftape

int main(int argc, char** argv) noexcept {
  using namespace perftape;
  return cli::Main<Plan>({kCommand, &PlanOf, &Run}, argc, argv);
}
