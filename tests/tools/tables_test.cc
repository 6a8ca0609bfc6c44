// SPDX-License-Identifier: Apache-2.0
// What the parser accepts is what help, man pages and completion show.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "tests/tools/all_tools.h"
#include "tools/common/cli/help.h"

namespace perftape {
namespace {

using testing::HasSubstr;

// Calls `check` with each tool and verb, and its options.
template <class Check>
void ForEachOption(const Check& check) {
  for (const Tool& tool : AllTools()) {
    for (const cli::Option& option : cli::AllOptions(*tool.command)) {
      SCOPED_TRACE(std::string(tool.command->name) + " " + option.spelled());
      check(*tool.command, option);
    }
  }
}

// The name of the tool in which a verb is completed: "perftape-bundle" of "perftape-bundle list".
const cli::Command& ToolOf(const cli::Command& command) {
  const std::string_view name = command.name.substr(0, command.name.find(' '));
  for (const Tool& tool : AllTools()) {
    if (tool.command->name == name) return *tool.command;
  }
  return command;
}

TEST(Tables, EachSpellingIsParsed) {
  ForEachOption([](const cli::Command& command, const cli::Option& option) {
    for (const std::string& spelling : option.spellings()) {
      const std::size_t dashes = spelling.find_first_not_of('-');
      const cli::Option* found = cli::FindOption(command, spelling.substr(dashes));
      ASSERT_NE(found, nullptr) << spelling;
      EXPECT_EQ(found->key(), option.key());
    }
  });
}

TEST(Tables, EachOptionIsInHelpUnlessItIsRare) {
  ForEachOption([](const cli::Command& command, const cli::Option& option) {
    const std::regex line(fmt::format("\n +(-., )?{}[ =\\[\n]", option.spelled()));
    const std::string all = cli::HelpText(command, cli::HelpDepth::kAll);
    const std::string usual = cli::HelpText(command, cli::HelpDepth::kUsual);
    EXPECT_TRUE(std::regex_search(all, line));
    EXPECT_EQ(std::regex_search(usual, line), !option.is_rare);
  });
}

TEST(Tables, EachOptionAndItsChoicesAreCompletedInEachShell) {
  ForEachOption([](const cli::Command& command, const cli::Option& option) {
    for (const std::string_view shell : {"bash", "zsh", "fish"}) {
      const Result<std::string> script = cli::CompletionScript(ToolOf(command), shell);
      ASSERT_TRUE(script);
      const std::string name =
          option.name.empty() ? std::string(1, option.letter) : std::string(option.name);
      const std::string dash = option.name.empty() ? " -s " : " -l ";
      if (option.verdict == cli::Verdict::kRefused) continue;
      EXPECT_THAT(*script, HasSubstr(shell == "fish" ? dash + name : option.spelled())) << shell;
      if (option.completion == cli::Completion::kEvent) continue;
      for (const cli::Offer& offer : option.offers()) {
        const std::string word =
            shell == "zsh" ? std::regex_replace(offer.word, std::regex(":"), "\\:") : offer.word;
        EXPECT_THAT(*script, HasSubstr(word)) << shell;
      }
    }
  });
}

TEST(Tables, EachVerbIsInHelpAndCompletion) {
  for (const Tool& tool : AllTools()) {
    for (const cli::Verb& verb : tool.command->verbs) {
      EXPECT_THAT(cli::HelpText(*tool.command, cli::HelpDepth::kUsual),
                  HasSubstr(fmt::format("\n  {} ", verb.name)));
      for (const std::string_view shell : {"bash", "zsh", "fish"}) {
        EXPECT_THAT(cli::CompletionScript(*tool.command, shell).value_or(""),
                    HasSubstr(std::string(verb.name)))
            << shell;
      }
    }
  }
}

TEST(Tables, EachToolHasExamplesAndThoseAreItsOwn) {
  for (const Tool& tool : AllTools()) {
    if (tool.command->name == doctor_tool::DoctorVerbCommand().name) continue;
    EXPECT_FALSE(tool.command->examples.empty()) << tool.command->name;
    for (const cli::Example& example : tool.command->examples) {
      const std::string_view name = tool.command->name.substr(0, tool.command->name.find(' '));
      EXPECT_THAT(std::string(example.line), HasSubstr(std::string(name)));
    }
  }
}

}  // namespace
}  // namespace perftape
