// SPDX-License-Identifier: Apache-2.0
// The sources of the man pages describe the options and rules that the tools have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/validate/rules.h"
#include "tests/tools/all_tools.h"
#include "tools/common/cli/help.h"

namespace perftape {
namespace {

std::string ReadManPage(std::string_view name, int section = 1) {
  const char* root = std::getenv("PERFTAPE_SOURCE_DIR");
  if (root == nullptr) return "";
  return ReadWholeFile(fmt::format("{}/tools/man/{}.{}.md", root, name, section)).value_or("");
}

class ManPage : public testing::TestWithParam<const cli::Command*> {};

TEST_P(ManPage, DescribesEachOptionOnce) {
  const std::string source = ReadManPage(GetParam()->name);
  ASSERT_FALSE(source.empty()) << "tools/man/" << GetParam()->name << ".1.md is missing";
  const Result<std::string> page = cli::ManPage(*GetParam(), source);
  EXPECT_TRUE(page) << page.error().message;
}

TEST(InspectManPage, ListsTheRulesOfValidate) {
  const std::string page = ReadManPage("perftape-inspect");
  for (const perfdata::RuleInfo& rule : perfdata::AllRules()) {
    const std::string entry = fmt::format("**{}** ({}", rule.name, NameOf(rule.severity));
    EXPECT_NE(page.find(entry), std::string::npos) << entry;
  }
}

// Without the marks of bold text, escapes, and section numbers of other pages, on one line.
std::string WithoutMarkup(const std::string& page) {
  const std::string plain = std::regex_replace(page, std::regex(R"(\*\*|\\|`|\(1\))"), "");
  return std::regex_replace(plain, std::regex("\\n *"), " ");
}

TEST(InspectManPage, ExplainsTheRulesOfValidateInTheSameWords) {
  const std::string page = WithoutMarkup(ReadManPage("perftape-inspect"));
  for (const perfdata::RuleInfo& rule : perfdata::AllRules()) {
    const std::string why = WithoutMarkup(std::string(rule.why));
    EXPECT_NE(page.find(fmt::format(") :   {} ", why)), std::string::npos)
        << rule.name << ": " << why;
  }
}

// Returns the words of each command of a line. Knows what the examples need: single quotes and
// pipes.
std::vector<std::vector<std::string>> CommandsOf(std::string_view line) {
  std::vector<std::vector<std::string>> commands(1);
  std::string word;
  bool is_quoted = false;
  for (const char letter : std::string(line) + "|") {
    if (letter == '\'') {
      is_quoted = !is_quoted;
    } else if (is_quoted || (letter != ' ' && letter != '|')) {
      word += letter;
    } else {
      if (!word.empty()) commands.back().push_back(std::exchange(word, {}));
      if (letter == '|') commands.emplace_back();
    }
  }
  return commands;
}

// Returns the lines of examples that begin with a tool. Joins lines that are continued.
std::vector<std::string> ExamplesIn(const std::string& page) {
  const std::string joined = std::regex_replace(page, std::regex(R"(\\\n +)"), "");
  const std::regex example("\n    (perftape-[a-z]+ .*)");
  std::vector<std::string> lines;
  for (std::sregex_iterator at(joined.begin(), joined.end(), example), end; at != end; ++at) {
    lines.push_back((*at)[1]);
  }
  return lines;
}

// Fails the test if a command of a tool is wrong.
void CheckExample(const std::string& line) {
  SCOPED_TRACE(line);
  for (std::vector<std::string> words : CommandsOf(line)) {
    if (words.empty() || !words.front().starts_with("perftape-")) continue;
    const std::vector<Tool> tools = AllTools();
    const auto tool = std::ranges::find_if(
        tools, [&](const Tool& each) { return each.command->name == words.front(); });
    ASSERT_TRUE(tool != tools.end());
    words.erase(words.begin());
    const std::span<const cli::Verb> verbs = tool->command->verbs;
    if (!words.empty() &&
        std::ranges::find(verbs, words.front(), &cli::Verb::name) != verbs.end()) {
      continue;
    }
    ASSERT_TRUE(tool->new_plan);
    const Status parsed = cli::ParseInto(*tool->command, words, *tool->new_plan());
    EXPECT_TRUE(parsed) << parsed.error().message;
  }
}

TEST(ExamplesManPage, HasCommandLinesThatTheToolsAccept) {
  const std::vector<std::string> examples = ExamplesIn(ReadManPage("perftape", 7));
  EXPECT_GE(examples.size(), 30U);
  for (const std::string& example : examples) CheckExample(example);
}

// Returns the commands of our tools in the tables of a page, which are in backticks.
std::vector<std::string> TableCommandsIn(const std::string& page) {
  const std::regex row("\n\\|[^\n]*"), command("`(perftape-[a-z]+ [^`]*)`");
  std::vector<std::string> lines;
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at) {
    const std::string cells = at->str();
    for (std::sregex_iterator in(cells.begin(), cells.end(), command); in != end; ++in) {
      lines.push_back((*in)[1]);
    }
  }
  return lines;
}

TEST(ComparingManPages, HaveCommandLinesThatTheToolsAccept) {
  for (const std::string_view name :
       {"perftape-from-perf", "perftape-from-samply", "perftape-from-pprof"}) {
    const std::vector<std::string> commands = TableCommandsIn(ReadManPage(name, 7));
    EXPECT_GE(commands.size(), 12U) << name;
    for (const std::string& command : commands) CheckExample(command);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfEachTool, ManPage,
    testing::Values(&bundle_tool::BundleCommand(), &convert_tool::ConvertCommand(),
                    &convert_tool::PerfToProfileCommand(), &doctor_tool::DoctorCommand(),
                    &front_tool::FrontCommand(), &inspect::InspectCommand(),
                    &perf_tool::PerfCommandLine(), &record_tool::RecordCommand(),
                    &recover_tool::RecoverCommand(), &report_tool::ReportCommand(),
                    &script_tool::ScriptCommand(), &symbolize_tool::SymbolizeCommand(),
                    &view_tool::ViewCommand()));

}  // namespace
}  // namespace perftape
