// SPDX-License-Identifier: Apache-2.0
// perftape VERB …: runs perftape-VERB from its own directory, as git does.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/file.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/help.h"
#include "tools/common/cli/output.h"
#include "tools/perftape/command_line.h"

namespace perftape {
namespace {

constexpr std::string_view kPrefix = "perftape-";

// Its operands are the verb and the verb's arguments.
using Plan = cli::BaseOptions;

Result<Plan> PlanOf(Plan plan) {
  return plan;
}

// Executes the program of the verb, the first of `words`. Returns only with an error.
Result<int> RunVerb(std::vector<std::string> words) {
  const cli::Command& command = front_tool::FrontCommand();
  if (std::ranges::find(command.verbs, words.front(), &cli::Verb::name) == command.verbs.end()) {
    return Fail(ErrorCode::kNotFound,
                cli::UnknownVerbText(command, words.front()) + "\nTry 'perftape help'.");
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

// Prints, on a terminal in a pager.
Result<int> PrintTopic(const cli::Topic& topic) {
  const std::string text = front_tool::TopicText(topic);
  std::optional<cli::Pager> pager;
  if (cli::IsTerminal()) pager.emplace();
  TRY(WriteAll(STDOUT_FILENO, AsBytes(text)));
  return cli::kDone;
}

// "help bundle list" means "bundle list --help".
Result<int> Help(std::vector<std::string> words) {
  const cli::Command& command = front_tool::FrontCommand();
  if (words.empty()) {
    TRY(cli::PrintToStdout(cli::HelpText(command, cli::HelpDepth::kUsual)));
    return cli::kDone;
  }
  const auto topic = std::ranges::find(command.topics, words.front(), &cli::Topic::name);
  if (topic != command.topics.end() && words.size() == 1) return PrintTopic(*topic);
  words.emplace_back("--help");
  return RunVerb(std::move(words));
}

Result<int> Run(const Plan& plan, cli::Console& /*console*/) {
  if (plan.operands.empty()) {
    TRY(cli::PrintToStdout(cli::BriefText(front_tool::FrontCommand())));
    return cli::kDone;
  }
  if (plan.operands.front() != "help") return RunVerb(plan.operands);
  return Help({plan.operands.begin() + 1, plan.operands.end()});
}

}  // namespace
}  // namespace perftape

int main(int argc, char** argv) noexcept {
  using namespace perftape;
  return cli::Main<Plan>({front_tool::FrontCommand(), &PlanOf, &Run}, argc, argv);
}
