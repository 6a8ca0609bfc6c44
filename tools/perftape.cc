// SPDX-License-Identifier: Apache-2.0
// perftape VERB …: runs the tool perftape-VERB. It is a program in the same directory, which is
// executed, as git does, or part of this one: then PERFTAPE_SINGLE_FILE is 1, and this program is
// the tool, too, if it is started under the tool's name.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/help.h"
#include "tools/common/cli/other_tool.h"
#include "tools/common/cli/output.h"
#include "tools/convert/perf_to_profile.h"
#include "tools/mains.h"
#include "tools/perf/commands.h"
#include "tools/perftape/command_line.h"
#include "tools/perftape/verbs.h"

namespace perftape {
namespace {

constexpr bool kIsSingleFile = PERFTAPE_SINGLE_FILE != 0;
constexpr std::string_view kPrefix = "perftape-";

using MainFunction = int (*)(int argc, char** argv);

struct Tool {
  std::string_view verb;
  MainFunction main;  // null for a program of its own
};

// Returns null for a tool that is a program of its own, so that it is not linked.
consteval MainFunction InSingleFile(MainFunction main) {
  return kIsSingleFile ? main : nullptr;
}

constexpr Tool kTools[] = {
    {"bundle", InSingleFile(&bundle_tool::Main)},
    {"convert", InSingleFile(&convert_tool::Main)},
    {"doctor", InSingleFile(&doctor_tool::Main)},
    {"inspect", InSingleFile(&inspect::Main)},
    {"perf", InSingleFile(&perf_tool::Main)},
    {"record", InSingleFile(&record_tool::Main)},
    {"recover", InSingleFile(&recover_tool::Main)},
    {"report", InSingleFile(&report_tool::Main)},
    {"script", InSingleFile(&script_tool::Main)},
#if PERFTAPE_HAS_SERVE
    {"serve", nullptr},  // never in the single file
#endif
    {"symbolize", InSingleFile(&symbolize_tool::Main)},
    {"view", InSingleFile(&view_tool::Main)},
};

// Returns null if there is no such verb.
constexpr const Tool* FindTool(std::string_view verb) {
  const auto* const found = std::ranges::find(kTools, verb, &Tool::verb);
  return found == std::end(kTools) ? nullptr : found;
}

static_assert(std::ranges::all_of(front_tool::kVerbs,
                                  [](const cli::Verb& verb) { return FindTool(verb.name); }) &&
                  std::size(kTools) == std::size(front_tool::kVerbs),
              "a verb has no tool, or a tool no verb");

// Its operands are the verb and the verb's arguments.
using Plan = cli::BaseOptions;

Result<Plan> PlanOf(Plan plan) {
  return plan;
}

// Returns the tool that this program is if it is started by this path; null for perftape.
MainFunction ToolNamed(std::string_view program) {
  std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == convert_tool::kPerfToProfile) return InSingleFile(&convert_tool::Main);
  if (name == perf_tool::kPerf) return InSingleFile(&perf_tool::Main);
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  const Tool* const tool = FindTool(name);
  return tool == nullptr ? nullptr : tool->main;
}

// Executes a program with these words, the first of which is its file name. Returns only with an
// error.
std::unexpected<Error> ExecuteBesideThis(std::vector<char*> words) {
  const auto file = cli::FileOfTool(words.front());
  if (!file) return std::unexpected(file.error());
  std::string name = file->native();
  words.front() = name.data();
  words.push_back(nullptr);
  execv(name.c_str(), words.data());
  return FailErrno(name, errno);
}

std::unexpected<Error> UnknownVerb(std::string_view word) {
  const std::string_view instead = perf_tool::InsteadOfForeignVerb(word);
  const std::string text =
      instead.empty() ? cli::UnknownVerbText(front_tool::FrontCommand(), word)
                      : "unknown verb '" + std::string(word) + "': " + std::string(instead);
  return Fail(ErrorCode::kNotFound, text + "\nTry 'perftape help'.");
}

// Runs the tool of the verb, the first of `words`. Returns its exit status.
Result<int> RunVerb(std::vector<std::string> words) {
  const Tool* tool = FindTool(words.front());
  if (tool == nullptr && perf_tool::FindPerfCommand(words.front()) != nullptr) {
    words.insert(words.begin(), "perf");
    tool = FindTool(words.front());
  }
  if (tool == nullptr) return UnknownVerb(words.front());
  words.front().insert(0, kPrefix);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  if (tool->main == nullptr) return ExecuteBesideThis(std::move(argv));
  argv.push_back(nullptr);
  return tool->main(static_cast<int>(words.size()), argv.data());
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
  const MainFunction tool = argc > 0 ? ToolNamed(argv[0]) : nullptr;
  if (tool != nullptr) return tool(argc, argv);
  return cli::Main<Plan>({front_tool::FrontCommand(), &PlanOf, &Run}, argc, argv);
}
